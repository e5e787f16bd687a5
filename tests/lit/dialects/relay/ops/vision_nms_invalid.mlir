// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @batches(%b: tensor<1x6x4xf32>, %s: tensor<2x3x6xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.all_class_non_max_suppression C9] batches of scores and boxes 2 != 1}}
  %r = relay.vision.all_class_non_max_suppression(%b, %s, %m, %t, %t)
    : (tensor<1x6x4xf32>, tensor<2x3x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @scores(%b: tensor<1x6x4xf32>, %s: tensor<1x3x5xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.all_class_non_max_suppression C9] scores and boxes 5 != 6}}
  %r = relay.vision.all_class_non_max_suppression(%b, %s, %m, %t, %t)
    : (tensor<1x6x4xf32>, tensor<1x3x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @corners(%b: tensor<1x6x5xf32>, %s: tensor<1x3x6xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.all_class_non_max_suppression C10] numbers of a box 5 != 4}}
  %r = relay.vision.all_class_non_max_suppression(%b, %s, %m, %t, %t)
    : (tensor<1x6x5xf32>, tensor<1x3x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @regular_boxes(%b: tensor<1x6x4xf32>, %s: tensor<1x5x3xf32>) {
  // expected-error@below {{[relay.vision.regular_non_max_suppression C6] boxes of scores and boxes 5 != 6}}
  %t = relay.vision.regular_non_max_suppression(%b, %s) {max_detections_per_class = 2, max_detections = 3, num_classes = 2, iou_threshold = 0.5, score_threshold = 0.1} : (tensor<1x6x4xf32>, tensor<1x5x3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @regular_classes(%b: tensor<1x6x4xf32>, %s: tensor<1x6x3xf32>) {
  // expected-error@below {{[relay.vision.regular_non_max_suppression C7] classes of the scores 3 is less than 4}}
  %t = relay.vision.regular_non_max_suppression(%b, %s) {max_detections_per_class = 2, max_detections = 3, num_classes = 4, iou_threshold = 0.5, score_threshold = 0.1} : (tensor<1x6x4xf32>, tensor<1x6x3xf32>) -> !relay.incomplete
  func.return
}
