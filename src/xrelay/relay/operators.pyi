"""Relay's operators as functions. Made by `make stubs` from their definitions: not to be edited."""

from collections.abc import Sequence
from typing import TypeAlias

from numpy.typing import DTypeLike
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.relay.expr import Expr, ExprLike
from xrelay.relay.sparse_operators import SparseParts

Ints: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Expr
"""Integers, or an expression of them; where an operator wants several, one may stand for all of them."""
Floats: TypeAlias = float | Sequence[float] | Expr
"""Numbers, or a constant; where an operator wants several, one may stand for all of them."""
DType: TypeAlias = DTypeLike | Attribute

class _Annotation:
    @staticmethod
    def checkpoint(
        data: ExprLike,
    ) -> Expr:
        """The operand, a tensor or tuple, which a gradient may recompute instead of keeping."""

    @staticmethod
    def compiler_begin(
        data: ExprLike,
        compiler: str,
    ) -> Expr:
        """The operand, a tensor or tuple, at the boundary where a region for `compiler` begins."""

    @staticmethod
    def compiler_end(
        data: ExprLike,
        compiler: str,
    ) -> Expr:
        """The operand, a tensor or tuple, at the boundary where a region for `compiler` ends."""

    @staticmethod
    def stop_fusion(
        data: ExprLike,
    ) -> Expr:
        """The operand. `relay-fuse-ops` never fuses ops before it with ops after it, and removes it."""

    @staticmethod
    def on_device(
        body: ExprLike,
        virtual_device: object = None,
        constrain_result: bool = False,
        constrain_body: bool = True,
    ) -> Expr:
        """Returns the expression itself. The only device is the CPU."""


annotation: _Annotation

class _Dyn:
    @staticmethod
    def broadcast_to(
        data: ExprLike,
        shape: ExprLike,
    ) -> Expr:
        """The data broadcast with the shape given by an operand; an extent of 1 on either side broadcasts."""

    @staticmethod
    def full(
        fill_value: ExprLike,
        shape: ExprLike,
    ) -> Expr:
        """A tensor of the shape given by the second operand, filled with the first operand."""

    @staticmethod
    def reshape(
        data: ExprLike,
        newshape: ExprLike,
        allowzero: bool | None = False,
    ) -> Expr:
        """The data's elements in the shape given by an operand: extents, and -1 for the remaining extent."""

    @staticmethod
    def sparse_to_dense(
        sparse_indices: ExprLike,
        output_shape: ExprLike,
        sparse_values: ExprLike,
        default_value: ExprLike,
    ) -> Expr:
        """`relay.sparse_to_dense` with the shape as the second operand."""

    @staticmethod
    def strided_slice(
        data: ExprLike,
        begin: ExprLike,
        end: ExprLike,
        strides: ExprLike,
        slice_mode: str | None = "end",
    ) -> Expr:
        """The elements of `data` from `begin` to before `end` in steps of `strides`, with one number for each axis."""

    @staticmethod
    def tile(
        data: ExprLike,
        reps: ExprLike,
    ) -> Expr:
        """The tensor repeated along each axis, with the numbers of repetitions from an operand."""

    @staticmethod
    def topk(
        data: ExprLike,
        k: ExprLike,
        axis: int | None = -1,
        ret_type: str | None = "both",
        is_ascend: bool | None = False,
        dtype: DType | None = None,
    ) -> Expr:
        """`relay.topk` with `k` as an operand, from 0 to the extent of the axis."""


dyn: _Dyn

class _Image:
    @staticmethod
    def affine_grid(
        data: ExprLike,
        target_shape: Ints,
    ) -> Expr:
        """The coordinates of an image of `target_shape`, transformed by matrices (N, 2, 3): a grid (N, 2, H, W)."""

    @staticmethod
    def crop_and_resize(
        data: ExprLike,
        boxes: ExprLike,
        box_indices: ExprLike,
        crop_size: Ints,
        layout: str | None = "NCHW",
        method: str | None = "bilinear",
        extrapolation_value: float | None = 0.0,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Boxes of images resized to `crop_size`: box n has corners `boxes[n]` (`y, x, y, x`) in image `box_indices[n]`."""

    @staticmethod
    def dilation2d(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilations: Ints | None = (1, 1),
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "IHW",
        out_dtype: DType | None = None,
    ) -> Expr:
        """The maximum of `data + weight` in a window that slides over each channel; the data is padded with zeros."""

    @staticmethod
    def grid_sample(
        data: ExprLike,
        grid: ExprLike,
        method: str | None = "bilinear",
        layout: str | None = "NCHW",
        padding_mode: str | None = "zeros",
        align_corners: bool | None = True,
    ) -> Expr:
        """Samples of images, or of volumes, at coordinates between -1 and 1 along each axis."""

    @staticmethod
    def resize1d(
        data: ExprLike,
        size: Ints,
        roi: Floats | None = (),
        layout: str | None = "NCW",
        method: str | None = "linear",
        coordinate_transformation_mode: str | None = "half_pixel",
        rounding_method: str | None = "",
        cubic_alpha: float | None = -0.5,
        cubic_exclude: int | None = 0,
        extrapolation_value: float | None = 0.0,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Signals resized to another length; `image.resize2d` documents C8 to C10."""

    @staticmethod
    def resize2d(
        data: ExprLike,
        size: Ints,
        roi: Floats | None = (),
        layout: str | None = "NCHW",
        method: str | None = "linear",
        coordinate_transformation_mode: str | None = "half_pixel",
        rounding_method: str | None = "",
        cubic_alpha: float | None = -0.5,
        cubic_exclude: int | None = 0,
        extrapolation_value: float | None = 0.0,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Images resized to height and width `size`, by the rule of `dyn.image.resize` without a scale."""

    @staticmethod
    def resize3d(
        data: ExprLike,
        size: Ints,
        roi: Floats | None = (),
        layout: str | None = "NCDHW",
        method: str | None = "linear",
        coordinate_transformation_mode: str | None = "half_pixel",
        rounding_method: str | None = "",
        cubic_alpha: float | None = -0.5,
        cubic_exclude: int | None = 0,
        extrapolation_value: float | None = 0.0,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Volumes resized to another depth, height and width; `image.resize2d` documents C8 to C10."""

    @staticmethod
    def resize(
        data: ExprLike,
        size: Sequence[int],
        layout: str = 'NCHW',
        method: str = 'bilinear',
        coordinate_transformation_mode: str = 'half_pixel',
        out_dtype: str = '',
    ) -> Expr:
        """`image.resize2d` under its older name, with the older method names `bilinear` and `bicubic`."""


image: _Image

class _Nn:
    @staticmethod
    def adaptive_avg_pool1d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each of `output_size` windows over the width; means of integers are truncated."""

    @staticmethod
    def adaptive_avg_pool2d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each of `output_size` windows over height and width; means of integers are truncated."""

    @staticmethod
    def adaptive_avg_pool3d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each of `output_size` windows over depth, height and width; means of integers are truncated."""

    @staticmethod
    def adaptive_max_pool1d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element of each of `output_size` windows over the width."""

    @staticmethod
    def adaptive_max_pool2d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element of each of `output_size` windows over height and width."""

    @staticmethod
    def adaptive_max_pool3d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element of each of `output_size` windows over depth, height and width."""

    @staticmethod
    def avg_pool1d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1,),
        dilation: Ints | None = (1,),
        padding: Ints | None = (0, 0),
        layout: str | None = "NCW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = False,
    ) -> Expr:
        """The mean of each window over the width."""

    @staticmethod
    def avg_pool2d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1),
        dilation: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = False,
    ) -> Expr:
        """The mean of each window over height and width."""

    @staticmethod
    def avg_pool2d_grad(
        out_grad: ExprLike,
        data: ExprLike,
        pool_size: Ints | None = (1, 1),
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = False,
        dilation: Ints | None = (1, 1),
    ) -> Expr:
        """The gradient of `nn.avg_pool2d`: each element gets a share of every window that contains it."""

    @staticmethod
    def avg_pool3d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1, 1),
        dilation: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = False,
    ) -> Expr:
        """The mean of each window over depth, height and width."""

    @staticmethod
    def avg_pool3d_grad(
        out_grad: ExprLike,
        data: ExprLike,
        pool_size: Ints | None = (1, 1),
        strides: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = False,
        dilation: Ints | None = (1, 1, 1),
    ) -> Expr:
        """The gradient of `nn.avg_pool3d`: each element gets a share of every window that contains it."""

    @staticmethod
    def batch_flatten(
        data: ExprLike,
    ) -> Expr:
        """The data with all axes after the first merged into one."""

    @staticmethod
    def batch_matmul(
        tensor_a: ExprLike,
        tensor_b: ExprLike,
        out_dtype: DType | None = None,
        transpose_a: bool | None = False,
        transpose_b: bool | None = True,
    ) -> Expr:
        """Matrix products of two stacks: tensor_a (…, m, k) by tensor_b (…, n, k), or (…, k, n), gives (…, m, n)."""

    @staticmethod
    def batch_norm(
        data: ExprLike,
        gamma: ExprLike,
        beta: ExprLike,
        moving_mean: ExprLike,
        moving_var: ExprLike,
        axis: int | None = 1,
        epsilon: float | None = 1e-05,
        center: bool | None = True,
        scale: bool | None = True,
    ) -> Expr:
        """Batch normalisation at inference time, along `axis`."""

    @staticmethod
    def batch_to_space_nd(
        data: ExprLike,
        block_shape: Ints,
        crops: Ints,
    ) -> Expr:
        """Groups of batches as blocks of shape `block_shape` of the axes after the first, cropped by `crops`."""

    @staticmethod
    def bias_add(
        data: ExprLike,
        bias: ExprLike,
        axis: int | None = 1,
    ) -> Expr:
        """The data plus a vector along one axis: `result[…, i, …] = data[…, i, …] + bias[i]` with `i` at position `axis`."""

    @staticmethod
    def celu(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x` if x ≥ 0, else `alpha * (exp(x / alpha) - 1)`."""

    @staticmethod
    def contrib_dense_pack(
        data: ExprLike,
        weight: ExprLike,
        weight_layout: str | None = "NC8n",
        units: int | None = None,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Matrix product with a packed weight: data (…, k) by weight (units / b, k, b) gives (…, units)."""

    @staticmethod
    def conv1d(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1,),
        padding: Ints | None = (0, 0),
        dilation: Ints | None = (1,),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCW",
        kernel_layout: str | None = "OIW",
        out_layout: str | None = "",
        out_dtype: DType | None = None,
    ) -> Expr:
        """One-dimensional convolution: data (N, C, W), weight (O, C / groups, KW)."""

    @staticmethod
    def conv1d_transpose(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1,),
        padding: Ints | None = (0, 0),
        dilation: Ints | None = (1,),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCW",
        kernel_layout: str | None = "IOW",
        out_layout: str | None = "",
        output_padding: Ints | None = (0,),
        out_dtype: DType | None = None,
    ) -> Expr:
        """One-dimensional transposed convolution: data (N, C, W), weight (C, O / groups, KW)."""

    @staticmethod
    def conv2d(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "OIHW",
        out_layout: str | None = "",
        out_dtype: DType | None = None,
    ) -> Expr:
        """Two-dimensional convolution (cross-correlation, as in every deep-learning framework)."""

    @staticmethod
    def conv2d_backward_weight(
        grad: ExprLike,
        data: ExprLike,
        *,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints,
        grad_layout: str | None = "NCHW",
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "OIHW",
        out_dtype: DType | None = None,
    ) -> Expr:
        """The gradient of `nn.conv2d` with respect to its weight, of the gradient of its result and of its data."""

    @staticmethod
    def conv2d_transpose(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "IOHW",
        out_layout: str | None = "",
        output_padding: Ints | None = (0, 0),
        out_dtype: DType | None = None,
    ) -> Expr:
        """Two-dimensional transposed convolution: the gradient of `nn.conv2d` in its data, also called deconvolution."""

    @staticmethod
    def conv3d(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        dilation: Ints | None = (1, 1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCDHW",
        kernel_layout: str | None = "OIDHW",
        out_layout: str | None = "",
        out_dtype: DType | None = None,
    ) -> Expr:
        """Three-dimensional convolution: data (N, C, D, H, W), weight (O, I, KD, KH, KW)."""

    @staticmethod
    def conv3d_backward_weight(
        grad: ExprLike,
        data: ExprLike,
        *,
        strides: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        dilation: Ints | None = (1, 1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints,
        grad_layout: str | None = "NCDHW",
        data_layout: str | None = "NCDHW",
        kernel_layout: str | None = "OIDHW",
        out_dtype: DType | None = None,
    ) -> Expr:
        """The gradient of `nn.conv3d` with respect to its weight."""

    @staticmethod
    def conv3d_transpose(
        data: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        dilation: Ints | None = (1, 1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCDHW",
        kernel_layout: str | None = "IODHW",
        out_layout: str | None = "",
        output_padding: Ints | None = (0, 0, 0),
        out_dtype: DType | None = None,
    ) -> Expr:
        """Three-dimensional transposed convolution: data (N, C, D, H, W), weight (C, O / groups, KD, KH, KW)."""

    @staticmethod
    def correlation(
        data1: ExprLike,
        data2: ExprLike,
        kernel_size: int | None = 1,
        max_displacement: int | None = 1,
        stride1: int | None = 1,
        stride2: int | None = 1,
        padding: Ints | None = (0, 0, 0, 0),
        is_multiply: bool | None = True,
        layout: str | None = "NCHW",
    ) -> Expr:
        """The mean product, or distance, of windows of an image (N, C, H, W) and shifted windows of another."""

    @staticmethod
    def cross_entropy(
        predictions: ExprLike,
        targets: ExprLike,
    ) -> Expr:
        """`-sum(targets * log(predictions)) / rows`: the predictions are probabilities."""

    @staticmethod
    def cross_entropy_with_logits(
        predictions: ExprLike,
        targets: ExprLike,
    ) -> Expr:
        """`-sum(targets * predictions) / rows`: predictions are logarithms of probabilities, as from `nn.log_softmax`."""

    @staticmethod
    def deformable_conv2d(
        data: ExprLike,
        offset: ExprLike,
        weight: ExprLike,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        deformable_groups: int | None = 1,
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "OIHW",
        out_layout: str | None = "",
        out_dtype: DType | None = None,
    ) -> Expr:
        """A convolution of images (N, C, H, W) whose taps are read at positions shifted by `offset`."""

    @staticmethod
    def dense(
        data: ExprLike,
        weight: ExprLike,
        units: int | None = None,
        out_dtype: DType | None = None,
    ) -> Expr:
        """Matrix product with the transposed weight: data (…, k) by weight (units, k) gives (…, units)."""

    @staticmethod
    def depth_to_space(
        data: ExprLike,
        block_size: int,
        layout: str | None = "NCHW",
        mode: str | None = "DCR",
    ) -> Expr:
        """Groups of channels as square blocks with sides of `block_size` pixels."""

    @staticmethod
    def dilate(
        data: ExprLike,
        strides: Ints,
        dilation_value: float | None = 0.0,
    ) -> Expr:
        """The data with its elements `strides` apart along each axis and `dilation_value` between them."""

    @staticmethod
    def dropout(
        data: ExprLike,
        rate: float = 0.5,
    ) -> Expr:
        """Dropout at inference time: the tuple (data, a mask of ones), as in Relay."""

    @staticmethod
    def elu(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x` if x ≥ 0, else `alpha * (exp(x) - 1)`."""

    @staticmethod
    def fast_softmax(
        data: ExprLike,
        axis: int | None = -1,
    ) -> Expr:
        """`nn.softmax` with the exponential of `fast_exp`."""

    @staticmethod
    def fifo_buffer(
        data: ExprLike,
        buffer: ExprLike,
        axis: int,
    ) -> Expr:
        """The buffer with its first elements along `axis` removed and the data, as many elements, appended."""

    @staticmethod
    def gelu(
        data: ExprLike,
        approximate: str | None = "none",
    ) -> Expr:
        """`x / 2 * (1 + erf(x / √2))`, or with `approximate = "tanh"` `x / 2 * (1 + tanh(√(2/π) * (x + 0.044715 * x³)))`."""

    @staticmethod
    def global_avg_pool1d(
        data: ExprLike,
        layout: str | None = "NCW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean over the whole width."""

    @staticmethod
    def global_avg_pool2d(
        data: ExprLike,
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean over the whole height and width, which are kept with extent 1."""

    @staticmethod
    def global_avg_pool3d(
        data: ExprLike,
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean over the whole depth, height and width."""

    @staticmethod
    def global_max_pool1d(
        data: ExprLike,
        layout: str | None = "NCW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over the whole width."""

    @staticmethod
    def global_max_pool2d(
        data: ExprLike,
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over the whole height and width, which are kept with extent 1."""

    @staticmethod
    def global_max_pool3d(
        data: ExprLike,
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over the whole depth, height and width."""

    @staticmethod
    def group_norm(
        data: ExprLike,
        gamma: ExprLike,
        beta: ExprLike,
        num_groups: int,
        axis: int | None = 1,
        epsilon: float | None = 1e-05,
        center: bool | None = True,
        scale: bool | None = True,
    ) -> Expr:
        """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over groups of channels."""

    @staticmethod
    def hard_sigmoid(
        data: ExprLike,
        alpha: float | None = 0.2,
        beta: float | None = 0.5,
    ) -> Expr:
        """`alpha * x + beta`, clamped to [0, 1]."""

    @staticmethod
    def hard_swish(
        data: ExprLike,
    ) -> Expr:
        """`x * min(max(x / 6 + 1 / 2, 0), 1)`."""

    @staticmethod
    def instance_norm(
        data: ExprLike,
        gamma: ExprLike,
        beta: ExprLike,
        axis: int | None = 1,
        epsilon: float | None = 1e-05,
        center: bool | None = True,
        scale: bool | None = True,
    ) -> Expr:
        """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance over all axes but 0 and `axis`."""

    @staticmethod
    def l2_normalize(
        data: ExprLike,
        eps: float,
        axis: Ints | None = None,
    ) -> Expr:
        """`data / sqrt(max(sum(data²), eps))`, with the sum over `axis`, or over all axes if it is omitted."""

    @staticmethod
    def layer_norm(
        data: ExprLike,
        gamma: ExprLike,
        beta: ExprLike,
        axis: int | None = -1,
        epsilon: float | None = 1e-05,
        center: bool | None = True,
        scale: bool | None = True,
    ) -> Expr:
        """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance along `axis`."""

    @staticmethod
    def leaky_relu(
        data: ExprLike,
        alpha: float | None = 0.01,
    ) -> Expr:
        """`x` if x ≥ 0, else `alpha * x`."""

    @staticmethod
    def log_softmax(
        data: ExprLike,
        axis: int | None = -1,
    ) -> Expr:
        """`x - m - log(sum(exp(x - m)))` along `axis`, with m the greatest element along it."""

    @staticmethod
    def lrn(
        data: ExprLike,
        size: int | None = 5,
        axis: int | None = 1,
        bias: float | None = 2.0,
        alpha: float | None = 1e-05,
        beta: float | None = 0.75,
    ) -> Expr:
        """Local response normalisation: each element is divided by a power of the squares around it along `axis`."""

    @staticmethod
    def matmul(
        tensor_a: ExprLike,
        tensor_b: ExprLike,
        units: int | None = None,
        out_dtype: DType | None = None,
        transpose_a: bool | None = False,
        transpose_b: bool | None = False,
    ) -> Expr:
        """Matrix product with one matrix: tensor_a (…, m, k) by tensor_b (k, n) gives (…, m, n)."""

    @staticmethod
    def max_pool1d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1,),
        dilation: Ints | None = (1,),
        padding: Ints | None = (0, 0),
        layout: str | None = "NCW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
    ) -> Expr:
        """The greatest element of each window over the width."""

    @staticmethod
    def max_pool1d_indices(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1,),
        dilation: Ints | None = (1,),
        padding: Ints | None = (0, 0),
        layout: str | None = "NCW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        column_major: bool | None = False,
    ) -> Expr:
        """The indices of the greatest elements of windows over the width."""

    @staticmethod
    def max_pool2d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1),
        dilation: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
    ) -> Expr:
        """The greatest element of each window over height and width; padding is ignored."""

    @staticmethod
    def max_pool2d_grad(
        out_grad: ExprLike,
        data: ExprLike,
        pool_size: Ints | None = (1, 1),
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        dilation: Ints | None = (1, 1),
    ) -> Expr:
        """The gradient of `nn.max_pool2d`: `out_grad` of each window is added to the window's greatest element."""

    @staticmethod
    def max_pool2d_indices(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1),
        dilation: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        column_major: bool | None = False,
    ) -> Expr:
        """The indices of the elements that `nn.max_pool2d` selects, within one channel of one image."""

    @staticmethod
    def max_pool3d(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1, 1),
        dilation: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
    ) -> Expr:
        """The greatest element of each window over depth, height and width."""

    @staticmethod
    def max_pool3d_grad(
        out_grad: ExprLike,
        data: ExprLike,
        pool_size: Ints | None = (1, 1),
        strides: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        dilation: Ints | None = (1, 1, 1),
    ) -> Expr:
        """The gradient of `nn.max_pool3d`: `out_grad` of each window is added to the window's greatest element."""

    @staticmethod
    def max_pool3d_indices(
        data: ExprLike,
        pool_size: Ints | None = (1,),
        strides: Ints | None = (1, 1, 1),
        dilation: Ints | None = (1, 1, 1),
        padding: Ints | None = (0, 0, 0, 0, 0, 0),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
        ceil_mode: bool | None = False,
        column_major: bool | None = False,
    ) -> Expr:
        """The indices of the greatest elements of windows over depth, height and width."""

    @staticmethod
    def mirror_pad(
        data: ExprLike,
        pad_width: Ints,
        mode: str | None = "SYMMETRIC",
    ) -> Expr:
        """The data padded by mirroring: `pad_width` lists (before, after) for every axis in one flat array."""

    @staticmethod
    def mish(
        data: ExprLike,
    ) -> Expr:
        """`x * tanh(log(1 + exp(x)))`."""

    @staticmethod
    def nll_loss(
        predictions: ExprLike,
        targets: ExprLike,
        weights: ExprLike,
        reduction: str | None = "mean",
        ignore_index: int | None = -100,
    ) -> Expr:
        """`-predictions[n, t, …] * weights[t]` for t = `targets[n, …]`, the class of each target."""

    @staticmethod
    def pad(
        data: ExprLike,
        pad_width: Sequence[Sequence[int]] | Expr,
        pad_value: ExprLike = 0.0,
        pad_mode: str = 'constant',
    ) -> Expr:
        """The data padded at its borders: `pad_width` lists (before, after) for every axis in one flat array."""

    @staticmethod
    def prelu(
        data: ExprLike,
        alpha: ExprLike,
        axis: int | None = 1,
    ) -> Expr:
        """`x` if x ≥ 0, else `alpha[c] * x`, with c the index along `axis`."""

    @staticmethod
    def relu(
        data: ExprLike,
    ) -> Expr:
        """`max(x, 0)`, elementwise."""

    @staticmethod
    def rms_norm(
        data: ExprLike,
        gamma: ExprLike,
        axis: int | None = -1,
        epsilon: float | None = 1e-05,
    ) -> Expr:
        """`data / sqrt(mean(data²) + epsilon) * gamma`, with the mean along `axis`."""

    @staticmethod
    def selu(
        data: ExprLike,
        alpha: float | None = 1.6732632423543772,
        gamma: float | None = 1.0507009873554805,
    ) -> Expr:
        """`gamma * x` if x ≥ 0, else `gamma * alpha * (exp(x) - 1)`."""

    @staticmethod
    def softmax(
        data: ExprLike,
        axis: int | None = -1,
    ) -> Expr:
        """`exp(x - m) / sum(exp(x - m))` along `axis`, with m the greatest element along it."""

    @staticmethod
    def softplus(
        data: ExprLike,
    ) -> Expr:
        """`log(1 + exp(x))`, computed as `max(x, 0) + log(1 + u)` for `u = exp(-|x|)`, which does not overflow."""

    @staticmethod
    def softsign(
        data: ExprLike,
    ) -> Expr:
        """`x / (1 + |x|)`."""

    @staticmethod
    def space_to_batch_nd(
        data: ExprLike,
        block_shape: Ints,
        paddings: Ints,
        pad_value: float | None = 0.0,
    ) -> Expr:
        """Blocks of shape `block_shape` of the axes after the first as groups of batches."""

    @staticmethod
    def space_to_depth(
        data: ExprLike,
        block_size: int,
        layout: str | None = "NCHW",
    ) -> Expr:
        """Square blocks with sides of `block_size` pixels as groups of channels."""

    @staticmethod
    def sparse_add(
        dense_mat: ExprLike,
        sparse_mat: SparseParts | Sequence[ExprLike],
    ) -> Expr:
        """A matrix plus a sparse matrix of the same shape (CSR; see `relay.nn.sparse_dense`)."""

    @staticmethod
    def sparse_conv2d(
        dense_data: ExprLike,
        sparse_data: ExprLike,
        sparse_indices: ExprLike,
        sparse_indptr: ExprLike,
        layout: str | None = "NHWC",
        kernel_size: Ints | None = (1, 1),
    ) -> Expr:
        """A convolution with a block-sparse weight (n, k) and stride 1; the result is as large as the data."""

    @staticmethod
    def sparse_dense(
        dense_mat: ExprLike,
        sparse_mat: SparseParts | Sequence[ExprLike],
        sparse_lhs: bool = False,
    ) -> Expr:
        """The product of a matrix (m, k) and the transpose of a sparse matrix (n, k), or vice versa."""

    @staticmethod
    def sparse_transpose(
        x: SparseParts | Sequence[ExprLike],
    ) -> Expr:
        """The transpose of a square sparse matrix (CSR; see `relay.nn.sparse_dense`)."""

    @staticmethod
    def swish(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x * sigmoid(alpha * x)`; SiLU if `alpha` is 1."""

    @staticmethod
    def thresholded_relu(
        data: ExprLike,
        theta: float | None = 1.0,
    ) -> Expr:
        """`x` if x > `theta`, else 0."""

    @staticmethod
    def upsampling(
        data: ExprLike,
        scale_h: float | Expr = 1,
        scale_w: float | Expr = 1,
        layout: str = 'NCHW',
        method: str = 'nearest_neighbor',
        align_corners: bool = False,
    ) -> Expr:
        """Images resized to `scale_h` times the height and `scale_w` times the width, as by `image.resize2d`."""

    @staticmethod
    def upsampling3d(
        data: ExprLike,
        scale_d: float | Expr = 1,
        scale_h: float | Expr = 1,
        scale_w: float | Expr = 1,
        layout: str = 'NCDHW',
        method: str = 'nearest_neighbor',
        coordinate_transformation_mode: str = 'half_pixel',
    ) -> Expr:
        """Volumes with depth, height and width times `scale_d`, `scale_h` and `scale_w`, as by `image.resize3d`."""

    @staticmethod
    def contrib_conv2d_nchwc(
        data: ExprLike,
        kernel: ExprLike,
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        channels: int | None = None,
        kernel_size: int | Sequence[int] | None = None,
        data_layout: str = 'NCHW8c',
        kernel_layout: str = 'OIHW',
        out_layout: str = '',
        out_dtype: str = '',
    ) -> Expr:
        """`nn.conv2d` on data in blocks of channels, under Relay's name."""

    @staticmethod
    def contrib_depthwise_conv2d_nchwc(
        data: ExprLike,
        kernel: ExprLike,
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        channels: int | None = None,
        kernel_size: int | Sequence[int] | None = None,
        data_layout: str = 'NCHW8c',
        kernel_layout: str = 'OIHW',
        out_layout: str = '',
        out_dtype: str = '',
    ) -> Expr:
        """`nn.conv2d` on data in blocks of channels, under Relay's name."""

    @staticmethod
    def dropout_raw(
        data: ExprLike,
        rate: float = 0.5,
    ) -> Expr:
        """`nn.dropout` with both results: the data and its mask."""


nn: _Nn

class _Qnn:
    @staticmethod
    def abs(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The absolute value of a dequantised tensor, quantised."""

    @staticmethod
    def add(
        lhs: ExprLike,
        rhs: ExprLike,
        lhs_scale: ExprLike,
        lhs_zero_point: ExprLike,
        rhs_scale: ExprLike,
        rhs_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        lhs_axis: int | None = -1,
        rhs_axis: int | None = -1,
    ) -> Expr:
        """The sum of two quantised tensors, elementwise with numpy's broadcasting."""

    @staticmethod
    def avg_pool2d(
        data: ExprLike,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        pool_size: Ints,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        ceil_mode: bool | None = False,
        count_include_pad: bool | None = True,
        layout: str | None = "NHWC",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each window over a quantised image, requantised."""

    @staticmethod
    def batch_matmul(
        x: ExprLike,
        y: ExprLike,
        x_zero_point: ExprLike,
        y_zero_point: ExprLike,
        x_scale: ExprLike,
        y_scale: ExprLike,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """Matrix products of two stacks: x (…, m, k) by y (…, n, k), whose matrices are transposed, gives (…, m, n) of i32."""

    @staticmethod
    def concatenate(
        data: ExprLike,
        input_scales: ExprLike,
        input_zero_points: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int | None = 0,
    ) -> Expr:
        """The quantised tensors of a tuple, each requantised to the result's scale and concatenated along `axis`."""

    @staticmethod
    def contrib_dense_pack(
        data: ExprLike,
        weight: ExprLike,
        input_zero_point: ExprLike,
        kernel_zero_point: ExprLike,
        input_scale: ExprLike,
        kernel_scale: ExprLike,
        weight_layout: str | None = "NC8n",
        units: int | None = None,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """Matrix product with a packed weight: data (…, k) by weight (units / b, k, b) gives (…, units), of i32."""

    @staticmethod
    def conv2d(
        data: ExprLike,
        weight: ExprLike,
        input_zero_point: ExprLike,
        kernel_zero_point: ExprLike,
        input_scale: ExprLike,
        kernel_scale: ExprLike,
        kernel_size: Ints | None = None,
        channels: int | None = None,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        groups: int | None = 1,
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "OIHW",
        out_layout: str | None = "",
        out_dtype: DType | None = ...,
    ) -> Expr:
        """Two-dimensional convolution of quantised images: `nn.conv2d` of the differences from the zero points, in i32."""

    @staticmethod
    def conv2d_transpose(
        data: ExprLike,
        weight: ExprLike,
        input_zero_point: ExprLike,
        kernel_zero_point: ExprLike,
        input_scale: ExprLike,
        kernel_scale: ExprLike,
        strides: Ints | None = (1, 1),
        padding: Ints | None = (0, 0, 0, 0),
        dilation: Ints | None = (1, 1),
        groups: int | None = 1,
        channels: int | None = None,
        kernel_size: Ints | None = None,
        data_layout: str | None = "NCHW",
        kernel_layout: str | None = "IOHW",
        out_layout: str | None = "",
        output_padding: Ints | None = (0, 0),
        out_dtype: DType | None = ...,
    ) -> Expr:
        """Two-dimensional transposed convolution of quantised images: `nn.conv2d_transpose` of the differences, in i32."""

    @staticmethod
    def dense(
        data: ExprLike,
        weight: ExprLike,
        input_zero_point: ExprLike,
        kernel_zero_point: ExprLike,
        input_scale: ExprLike,
        kernel_scale: ExprLike,
        units: int | None = None,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """Matrix product with the transposed weight: data (…, k) by weight (units, k) gives (…, units), of i32."""

    @staticmethod
    def dequantize(
        data: ExprLike,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        axis: int | None = -1,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """`input_scale * (data - input_zero_point)`: the value represented by each quantised number."""

    @staticmethod
    def erf(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The error function of a dequantised tensor, quantised."""

    @staticmethod
    def exp(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The exponential of a dequantised tensor, quantised."""

    @staticmethod
    def hardswish(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """`x * min(max(x + 3, 0), 6) / 6` of a dequantised tensor, quantised."""

    @staticmethod
    def leaky_relu(
        x: ExprLike,
        alpha: float,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """`x` if x ≥ 0, else `alpha * x`, for the represented values x, quantised."""

    @staticmethod
    def log(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The natural logarithm of a dequantised tensor, quantised; NaN becomes the zero point."""

    @staticmethod
    def mul(
        lhs: ExprLike,
        rhs: ExprLike,
        lhs_scale: ExprLike,
        lhs_zero_point: ExprLike,
        rhs_scale: ExprLike,
        rhs_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        lhs_axis: int | None = -1,
        rhs_axis: int | None = -1,
    ) -> Expr:
        """The product of two quantised tensors, elementwise with numpy's broadcasting."""

    @staticmethod
    def quantize(
        data: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int | None = -1,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """`round(data / output_scale) + output_zero_point`, saturated: the quantised number for each element."""

    @staticmethod
    def requantize(
        data: ExprLike,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int | None = -1,
        rounding: str | None = "UPWARD",
        compute_dtype: DType | None = ...,
        out_dtype: DType | None = ...,
    ) -> Expr:
        """`round((data - input_zero_point) * input_scale / output_scale) + output_zero_point`, saturated."""

    @staticmethod
    def rsqrt(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The reciprocal square root of a dequantised tensor, quantised; NaN becomes the zero point."""

    @staticmethod
    def sigmoid(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The sigmoid, `1 / (1 + exp(-x))`, of a dequantised tensor, quantised."""

    @staticmethod
    def softmax(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int | None = -1,
    ) -> Expr:
        """The softmax along `axis` of a dequantised tensor, quantised."""

    @staticmethod
    def sqrt(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The square root of a dequantised tensor, quantised; NaN becomes the zero point."""

    @staticmethod
    def subtract(
        lhs: ExprLike,
        rhs: ExprLike,
        lhs_scale: ExprLike,
        lhs_zero_point: ExprLike,
        rhs_scale: ExprLike,
        rhs_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        lhs_axis: int | None = -1,
        rhs_axis: int | None = -1,
    ) -> Expr:
        """The difference of two quantised tensors, elementwise with numpy's broadcasting."""

    @staticmethod
    def tanh(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The hyperbolic tangent of a dequantised tensor, quantised."""

    @staticmethod
    def simulated_dequantize(
        data: ExprLike,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        axis: int = -1,
        in_dtype: str | Expr = 'int8',
    ) -> Expr:
        """Returns the values of `qnn.dequantize` for integers stored as floats; the data for `disable` or 0."""

    @staticmethod
    def simulated_quantize(
        data: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int = -1,
        out_dtype: str | Expr = 'int8',
    ) -> Expr:
        """Returns the values of `qnn.quantize` as floats of the data's type."""


qnn: _Qnn

class _Random:
    @staticmethod
    def multinomial(
        key: ExprLike,
        probs: ExprLike,
        num_samples: int,
    ) -> Expr:
        """A new key and `num_samples` random classes for each row of probabilities, whose sum need not be 1."""

    @staticmethod
    def normal(
        key: ExprLike,
        shape: Sequence[int],
        dtype: str = 'float32',
        mean: ExprLike = 0.0,
        scale: ExprLike = 1.0,
    ) -> Expr:
        """A new key and floats with a normal distribution of mean `mean` and standard deviation `scale`."""

    @staticmethod
    def threefry_generate(
        key: ExprLike,
        shape: Sequence[int],
    ) -> Expr:
        """A new key and words of `out_shape`, where each block of four is a hash of key, path and counter."""

    @staticmethod
    def threefry_split(
        key: ExprLike,
    ) -> Expr:
        """Two keys with independent random numbers: their paths are extended by 0 and 1."""

    @staticmethod
    def uniform(
        key: ExprLike,
        shape: Sequence[int],
        dtype: str = 'float32',
        low: ExprLike = 0.0,
        high: ExprLike = 1.0,
    ) -> Expr:
        """A new key and floats with a uniform distribution in [`low`, `high`)."""

    @staticmethod
    def threefry_key(
        seed: int,
    ) -> Expr:
        """Returns a key of random numbers: four words of the seed, and initial path and counter."""


random: _Random

class _Vision:
    @staticmethod
    def all_class_non_max_suppression(
        boxes: ExprLike,
        scores: ExprLike,
        max_output_boxes_per_class: ExprLike = -1,
        iou_threshold: ExprLike = -1.0,
        score_threshold: ExprLike = -1.0,
        output_format: str = 'onnx',
    ) -> Expr:
        """Non-maximum suppression of boxes, for each class of each batch separately."""

    @staticmethod
    def get_valid_counts(
        data: ExprLike,
        score_threshold: ExprLike,
        id_index: int | None = 0,
        score_index: int | None = 1,
    ) -> Expr:
        """The boxes of each batch with a score greater than a threshold and a nonnegative class, moved to the front."""

    @staticmethod
    def multibox_prior(
        data: ExprLike,
        sizes: Floats | None = (1.0,),
        ratios: Floats | None = (1.0,),
        steps: Floats | None = (-1.0, -1.0),
        offsets: Floats | None = (0.5, 0.5),
        clip: bool | None = False,
    ) -> Expr:
        """Anchor boxes (left, top, right, bottom) for the pixels of an image (N, C, H, W): (1, H·W·k, 4)."""

    @staticmethod
    def multibox_transform_loc(
        cls_prob: ExprLike,
        loc_pred: ExprLike,
        anchor: ExprLike,
        clip: bool | None = True,
        threshold: float | None = 0.01,
        variances: Floats | None = (0.1, 0.1, 0.2, 0.2),
        keep_background: bool | None = False,
    ) -> Expr:
        """Anchors transformed by predictions, with their best class: rows `class, score, left, top, right, bottom`."""

    @staticmethod
    def non_max_suppression(
        data: ExprLike,
        valid_count: ExprLike,
        indices: ExprLike,
        max_output_size: ExprLike = -1,
        iou_threshold: ExprLike = 0.5,
        force_suppress: bool = False,
        top_k: int = -1,
        coord_start: int = 2,
        score_index: int = 1,
        id_index: int = 0,
        return_indices: bool = True,
        invalid_to_bottom: bool = False,
    ) -> Expr:
        """Non-maximum suppression of the first `valid_count` boxes of each batch, in descending order of score."""

    @staticmethod
    def proposal(
        cls_prob: ExprLike,
        bbox_pred: ExprLike,
        im_info: ExprLike,
        scales: Floats | None = (4.0, 8.0, 16.0, 32.0),
        ratios: Floats | None = (0.5, 1.0, 2.0),
        feature_stride: int | None = 16,
        threshold: float | None = 0.7,
        rpn_pre_nms_top_n: int | None = 6000,
        rpn_post_nms_top_n: int | None = 300,
        rpn_min_size: int | None = 16,
        iou_loss: bool | None = False,
    ) -> Expr:
        """The regions `image, x, y, x, y` with the best scores of a region proposal network, after suppression of overlaps."""

    @staticmethod
    def regular_non_max_suppression(
        boxes: ExprLike,
        scores: ExprLike,
        max_detections_per_class: int,
        max_detections: int,
        num_classes: int,
        iou_threshold: float,
        score_threshold: float,
    ) -> Expr:
        """The detections with the best scores in each image after suppression in each class separately, as in TFLite."""

    @staticmethod
    def roi_align(
        data: ExprLike,
        rois: ExprLike,
        pooled_size: Ints,
        spatial_scale: float,
        sample_ratio: int | None = -1,
        layout: str | None = "NCHW",
        mode: str | None = "avg",
        aligned: bool | None = False,
    ) -> Expr:
        """Regions of images pooled to `pooled_size`: each element is the mean of interpolated samples of a bin."""

    @staticmethod
    def roi_pool(
        data: ExprLike,
        rois: ExprLike,
        pooled_size: Ints,
        spatial_scale: float,
        layout: str | None = "NCHW",
    ) -> Expr:
        """Regions of images pooled to `pooled_size`: each element is the maximum over a bin of the region."""

    @staticmethod
    def yolo_reorg(
        data: ExprLike,
        stride: int,
    ) -> Expr:
        """Pixels of blocks as channels, as in Darknet: data (N, C, H, W) becomes (N, C·s², H/s, W/s) for `stride` s."""


vision: _Vision

def abs(
    data: ExprLike,
) -> Expr:
    """The absolute value of x, elementwise."""

def acos(
    data: ExprLike,
) -> Expr:
    """The angle in [0, π] whose cosine is x, elementwise; NaN outside of [-1, 1]."""

def acosh(
    data: ExprLike,
) -> Expr:
    """The nonnegative number whose hyperbolic cosine is x, elementwise; NaN if x is less than 1."""

def add(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs + rhs`, elementwise with numpy's broadcasting."""

def adv_index(
    inputs: ExprLike,
) -> Expr:
    """`data[i, j, …]` for indices i, j, … of the first axes, which broadcast, as in numpy."""

def all(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """Whether all elements over `axis` are true; true if there are no elements."""

def any(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """Whether any element over `axis` is true; false if there are no elements."""

def arange(
    start: ExprLike,
    stop: ExprLike | None = None,
    step: ExprLike | None = None,
    dtype: str = 'float32',
) -> Expr:
    """The `max(ceil((stop - start) / step), 0)` numbers `start + i * step` for i from 0."""

def argmax(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    select_last_index: bool | None = False,
) -> Expr:
    """The index of the greatest element over `axis`, as i32; several axes count as one."""

def argmin(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    select_last_index: bool | None = False,
) -> Expr:
    """The index of the least element over `axis`, as i32; several axes count as one."""

def argsort(
    data: ExprLike,
    axis: int | None = -1,
    is_ascend: bool | None = True,
    dtype: DType | None = None,
) -> Expr:
    """The indices that sort the data along `axis`, as i32 or `dtype`."""

def argwhere(
    condition: ExprLike,
) -> Expr:
    """The indices of the nonzero elements in row-major order, one row for each. NaN is nonzero."""

def asin(
    data: ExprLike,
) -> Expr:
    """The angle in [-π/2, π/2] whose sine is x, elementwise; NaN outside of [-1, 1]."""

def asinh(
    data: ExprLike,
) -> Expr:
    """The number whose hyperbolic sine is x, elementwise."""

def atan(
    data: ExprLike,
) -> Expr:
    """The angle in [-π/2, π/2] whose tangent is x, elementwise."""

def atanh(
    data: ExprLike,
) -> Expr:
    """The number whose hyperbolic tangent is x, elementwise; infinite at 1 and -1, NaN beyond."""

def bitwise_and(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Bitwise and, elementwise with numpy's broadcasting."""

def bitwise_not(
    data: ExprLike,
) -> Expr:
    """Bitwise not, elementwise."""

def bitwise_or(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Bitwise or, elementwise with numpy's broadcasting."""

def bitwise_xor(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Bitwise exclusive or, elementwise with numpy's broadcasting."""

def broadcast_to(
    data: ExprLike,
    shape: Ints,
) -> Expr:
    """The data broadcast to `shape`."""

def broadcast_to_like(
    data: ExprLike,
    broadcast_type: ExprLike,
) -> Expr:
    """The data broadcast to the shape of `broadcast_type`."""

def cast(
    data: ExprLike,
    dtype: DType,
) -> Expr:
    """Each element converted to `dtype`. Floats are truncated to integers; booleans are `x != 0`."""

def cast_like(
    data: ExprLike,
    dtype_like: ExprLike,
) -> Expr:
    """Each element converted, as `cast` does, to the element type of `dtype_like`, whose elements are not read."""

def ceil(
    data: ExprLike,
) -> Expr:
    """The least whole number not less than x, elementwise; integers are unchanged."""

def clip(
    data: ExprLike,
    a_min: float,
    a_max: float,
) -> Expr:
    """`min(max(x, a_min), a_max)`, elementwise."""

def collapse_sum_like(
    data: ExprLike,
    collapse_type: ExprLike,
) -> Expr:
    """The data summed along the axes that `collapse_type` lacks or in which its extent is 1, to reverse a broadcast."""

def collapse_sum_to(
    data: ExprLike,
    shape: ExprLike | Sequence[int],
) -> Expr:
    """The data summed to the shape given by an operand: along axes that the shape lacks, or in which its extent is 1."""

def compress(
    data: ExprLike,
    condition: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The slices of `data` along `axis` for which the condition is true, in order."""

def concatenate(
    data: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The tensors of a tuple concatenated along `axis`."""

def contrib_reverse_reshape(
    data: ExprLike,
    newshape: Ints,
) -> Expr:
    """The same elements in another shape, given by Relay's codes in reverse order."""

def copy(
    data: ExprLike,
) -> Expr:
    """x unchanged, elementwise."""

def cos(
    data: ExprLike,
) -> Expr:
    """The cosine of x, in radians, elementwise."""

def cosh(
    data: ExprLike,
) -> Expr:
    """The hyperbolic cosine of x, elementwise."""

def cumprod(
    data: ExprLike,
    axis: int | None = None,
    dtype: DType | None = None,
    exclusive: bool | None = False,
) -> Expr:
    """The cumulative product along `axis`, or of the flattened data without `axis`."""

def cumsum(
    data: ExprLike,
    axis: int | None = None,
    dtype: DType | None = None,
    exclusive: bool | None = False,
) -> Expr:
    """The cumulative sum along `axis`, or of the flattened data without `axis`."""

def dft(
    re_data: ExprLike,
    im_data: ExprLike,
    inverse: bool | None = False,
) -> Expr:
    """The discrete Fourier transform along the last axis: the tuple of the real and the imaginary parts."""

def divide(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs / rhs`, elementwise with numpy's broadcasting; integer quotients are truncated towards zero."""

def einsum(
    data: ExprLike,
    equation: str,
) -> Expr:
    """The sum of products of a tuple of tensors, with axes labelled by `equation`; `"ij,jk->ik"` is a matrix product."""

def equal(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs == rhs`, elementwise with numpy's broadcasting."""

def erf(
    data: ExprLike,
) -> Expr:
    """The error function of x, elementwise."""

def exp(
    data: ExprLike,
) -> Expr:
    """`exp(x)`, elementwise."""

def expand_dims(
    data: ExprLike,
    axis: int,
    num_newaxis: int | None = 1,
) -> Expr:
    """The data with `num_newaxis` axes of extent 1 inserted at position `axis` of the result."""

def fast_erf(
    data: ExprLike,
) -> Expr:
    """`erf(x)` as a quotient of polynomials in x², with x clamped to -4 … 4; within 1e-6."""

def fast_exp(
    data: ExprLike,
) -> Expr:
    """`exp(x)` as `2^n * (1 + f + f² p(f))` with n = floor(x / ln 2 + 1/2), f = x - n ln 2 and a polynomial p."""

def fast_tanh(
    data: ExprLike,
) -> Expr:
    """`tanh(x)` as a quotient of polynomials in x², with x clamped to -9 … 9; within 1e-6."""

def fixed_point_multiply(
    data: ExprLike,
    multiplier: int,
    shift: int,
) -> Expr:
    """`x * multiplier * 2 ** (shift - 31)`, rounded to the nearest integer, halves up, and saturated."""

def fixed_point_multiply_per_axis(
    x: ExprLike,
    m: ExprLike,
    lshift: ExprLike,
    rshift: ExprLike,
    *,
    is_lshift_required: bool | None = False,
    is_rshift_required: bool | None = False,
    axes: Ints,
) -> Expr:
    """`x * m * 2 ** (lshift - rshift - 31)`, rounded to the nearest integer, halves up, and saturated."""

def floor(
    data: ExprLike,
) -> Expr:
    """The greatest whole number not greater than x, elementwise; integers are unchanged."""

def floor_divide(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The quotient rounded down, elementwise with numpy's broadcasting."""

def floor_mod(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The remainder of floor division, with the sign of `rhs`, elementwise with numpy's broadcasting."""

def full(
    fill_value: ExprLike,
    shape: int | Sequence[int] | Expr = (),
    dtype: str | None = None,
) -> Expr:
    """A tensor of `shape` filled with the scalar `fill_value`, with its element type or `dtype`."""

def full_like(
    data: ExprLike,
    fill_value: ExprLike,
) -> Expr:
    """A tensor of the type of `data` filled with the scalar `fill_value`, converted to its element type."""

def gather(
    data: ExprLike,
    axis: int,
    indices: ExprLike,
) -> Expr:
    """The elements of the data at `indices` along `axis` and at the index in the result along the other axes."""

def gather_nd(
    data: ExprLike,
    indices: ExprLike,
    batch_dims: int | None = 0,
    index_rank: int | None = None,
) -> Expr:
    """The slices of the data at index tuples, which are along the first axis of `indices`."""

def greater(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs > rhs`, elementwise with numpy's broadcasting."""

def greater_equal(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs >= rhs`, elementwise with numpy's broadcasting."""

def invert_permutation(
    data: ExprLike,
) -> Expr:
    """The inverse of a permutation: `y[x[i]] = i`. An index out of range fails; duplicates are undefined."""

def isfinite(
    data: ExprLike,
) -> Expr:
    """Whether x is neither NaN nor infinite, elementwise; true for integers."""

def isinf(
    data: ExprLike,
) -> Expr:
    """Whether x is infinite, elementwise; false for integers."""

def isnan(
    data: ExprLike,
) -> Expr:
    """Whether x is NaN, elementwise; false for integers."""

def layout_transform(
    data: ExprLike,
    src_layout: str,
    dst_layout: str,
) -> Expr:
    """The same tensor in another layout; partial blocks are filled with zeros."""

def left_shift(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs << rhs`, filled with zeros, elementwise with numpy's broadcasting."""

def less(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs < rhs`, elementwise with numpy's broadcasting."""

def less_equal(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs <= rhs`, elementwise with numpy's broadcasting."""

def log(
    data: ExprLike,
) -> Expr:
    """The natural logarithm of x, elementwise."""

def log10(
    data: ExprLike,
) -> Expr:
    """The logarithm of x to base 10, elementwise; NaN if x is negative."""

def log2(
    data: ExprLike,
) -> Expr:
    """The logarithm of x to base 2, elementwise; NaN if x is negative."""

def logical_and(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Logical and, elementwise with numpy's broadcasting."""

def logical_not(
    data: ExprLike,
) -> Expr:
    """Logical not, elementwise."""

def logical_or(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Logical or, elementwise with numpy's broadcasting."""

def logical_xor(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Logical exclusive or, elementwise with numpy's broadcasting."""

def logsumexp(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """`m + log(sum(exp(x - m)))` over `axis`, with m the greatest element; m if that is infinite."""

def matrix_set_diag(
    data: ExprLike,
    diagonal: ExprLike,
    k: int | Sequence[int] = 0,
    align: str = 'RIGHT_LEFT',
) -> Expr:
    """The data with diagonals `k1` to `k2` of each matrix replaced by rows of `diagonal`; diagonal 0 is the main one."""

def max(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """The greatest element over `axis`."""

def maximum(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The greater of `lhs` and `rhs`, elementwise with numpy's broadcasting."""

def mean(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """The mean over `axis`; for integers, the truncated quotient of sum and count."""

def meshgrid(
    data: ExprLike,
    indexing: str | None = "ij",
) -> Expr:
    """n tensors of rank n for n vectors: tensor k has vector k along axis k and is constant along the others."""

def min(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """The least element over `axis`."""

def minimum(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The lesser of `lhs` and `rhs`, elementwise with numpy's broadcasting."""

def mod(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The remainder of truncated division, with the sign of `lhs`, elementwise with numpy's broadcasting."""

def multiply(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs * rhs`, elementwise with numpy's broadcasting."""

def ndarray_size(
    data: ExprLike,
    dtype: DType | None = ...,
) -> Expr:
    """The number of elements of the data."""

def negative(
    data: ExprLike,
) -> Expr:
    """`-x`, elementwise."""

def not_equal(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs != rhs`, elementwise with numpy's broadcasting."""

def one_hot(
    indices: ExprLike,
    on_value: ExprLike,
    off_value: ExprLike,
    depth: int,
    axis: int | None = -1,
    dtype: DType | None = None,
) -> Expr:
    """`on_value` at the index along a new axis of extent `depth`, `off_value` elsewhere."""

def ones(
    shape: Ints,
    dtype: DType | None = None,
) -> Expr:
    """A tensor of ones with shape `shape` and element type `dtype`, by default f32."""

def ones_like(
    data: ExprLike,
) -> Expr:
    """A tensor of ones with the type of `data`."""

def power(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs` to the power `rhs`, elementwise with numpy's broadcasting."""

def prod(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """The product over `axis`; for booleans, whether all are true."""

def rank_rows(
    data: ExprLike,
) -> Expr:
    """The number of rows that precede each row of a matrix in lexicographic order; equal rows have the same number."""

def reinterpret(
    data: ExprLike,
    dtype: DType,
) -> Expr:
    """The bits of each element as an element of `dtype`: 1.0 in f32 is the integer 0x3F800000."""

def repeat(
    data: ExprLike,
    repeats: int,
    axis: int | None = 0,
) -> Expr:
    """Each element repeated `repeats` times consecutively along `axis`."""

def require(
    data: ExprLike,
    demands: AttributeValue | None = None,
) -> Expr:
    """The operand. The conditions `demands` on named dimensions are checked."""

def reshape(
    data: ExprLike,
    newshape: Ints,
    allowzero: bool | None = False,
) -> Expr:
    """The same elements in another shape, given by Relay's codes."""

def reshape_like(
    data: ExprLike,
    shape_like: ExprLike,
    lhs_begin: int | None = 0,
    lhs_end: int | None = None,
    rhs_begin: int | None = 0,
    rhs_end: int | None = None,
) -> Expr:
    """The data with axes `lhs_begin` to before `lhs_end` reshaped to the shape of the other's axes `rhs_…`."""

def reverse(
    data: ExprLike,
    axis: int,
) -> Expr:
    """The data with the elements along `axis` in reverse order."""

def reverse_sequence(
    data: ExprLike,
    seq_lengths: ExprLike,
    seq_axis: int = 1,
    batch_axis: int = 0,
) -> Expr:
    """The first elements of each sequence in reverse order, followed by the others unchanged."""

def right_shift(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs >> rhs`, filled with the sign bit, elementwise with numpy's broadcasting."""

def round(
    data: ExprLike,
) -> Expr:
    """The nearest whole number, halves to even, elementwise; integers are unchanged."""

def rsqrt(
    data: ExprLike,
) -> Expr:
    """`1 / sqrt(x)`, elementwise."""

def scatter_elements(
    data: ExprLike,
    indices: ExprLike,
    updates: ExprLike,
    axis: int | None = 0,
    reduction: str | None = "update",
) -> Expr:
    """The data updated at `indices` along `axis` and at the index of the update along the other axes."""

def scatter_nd(
    data: ExprLike,
    indices: ExprLike,
    updates: ExprLike,
    mode: str | None = "update",
) -> Expr:
    """The data with slices updated at index tuples, which are along the first axis of `indices`."""

def searchsorted(
    sorted_sequence: ExprLike,
    values: ExprLike,
    right: bool | None = False,
    dtype: DType | None = None,
) -> Expr:
    """The index in an ascending row before which each of `values` can be inserted so that the row stays ascending."""

def sequence_mask(
    data: ExprLike,
    valid_length: ExprLike,
    mask_value: float | None = 0.0,
    axis: int | None = 0,
) -> Expr:
    """The data with `mask_value` from index `valid_length[b]` along `axis`, where b is the index along the other axis."""

def shape_of(
    data: ExprLike,
    dtype: DType | None = ...,
) -> Expr:
    """The extents of the data, outermost first."""

def sigmoid(
    data: ExprLike,
) -> Expr:
    """`1 / (1 + exp(-x))`, elementwise."""

def sign(
    data: ExprLike,
) -> Expr:
    """1 if x is positive, -1 if x is negative, NaN if x is NaN, else 0, elementwise."""

def sin(
    data: ExprLike,
) -> Expr:
    """The sine of x, in radians, elementwise."""

def sinh(
    data: ExprLike,
) -> Expr:
    """The hyperbolic sine of x, elementwise."""

def slice_like(
    data: ExprLike,
    shape_like: ExprLike,
    axes: Ints | None = (),
) -> Expr:
    """The first elements of the data along `axes`, as many as `shape_like` has; without `axes`, along all common axes."""

def sliding_window(
    data: ExprLike,
    axis: int,
    window_shape: Ints,
    strides: Ints,
) -> Expr:
    """Windows over the axes from `axis` to the last: `result[x…, i…, k…] = data[x…, i * strides + k …]`."""

def sort(
    data: ExprLike,
    axis: int | None = -1,
    is_ascend: bool | None = True,
) -> Expr:
    """The elements sorted along `axis`, ascending unless `is_ascend` is false."""

def sparse_reshape(
    sparse_indices: ExprLike,
    prev_shape: ExprLike,
    new_shape: ExprLike,
) -> Expr:
    """The coordinates of a sparse tensor after a reshape from `prev_shape` to `new_shape`, and the new shape."""

def sparse_to_dense(
    sparse_indices: ExprLike,
    output_shape: Sequence[int] | Expr,
    sparse_values: ExprLike,
    default_value: ExprLike = 0,
) -> Expr:
    """A tensor of `output_shape` with the values at the coordinates `sparse_indices`, and the default elsewhere."""

def split(
    data: ExprLike,
    indices_or_sections: Ints,
    axis: int | None = 0,
) -> Expr:
    """A tensor split along `axis` into the fields of a tuple."""

def sqrt(
    data: ExprLike,
) -> Expr:
    """The square root of x, elementwise; NaN if x is negative."""

def squeeze(
    data: ExprLike,
    axis: Ints | None = None,
) -> Expr:
    """The data without its axes of extent 1, or without the axes `axis`."""

def stack(
    data: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The fields of a tuple, which have the same type, joined along a new axis `axis` of the result."""

def std(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    unbiased: bool | None = False,
) -> Expr:
    """The square root of the variance over `axis`; with `unbiased` the variance is divided by one less."""

def stft(
    data: ExprLike,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: ExprLike | None = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Expr:
    """Fourier transforms of frames of a signal at distances of `hop_length`: (frequencies, frames, 2)."""

def strided_set(
    data: ExprLike,
    v: ExprLike,
    begin: ExprLike | Sequence[int],
    end: ExprLike | Sequence[int],
    strides: ExprLike | Sequence[int] | None = None,
) -> Expr:
    """The data with the slice from `begin` to before `end` by `strides`, along the first axes, replaced by `v`."""

def strided_slice(
    data: ExprLike,
    begin: Ints,
    end: Ints,
    strides: Ints | None = (1,),
    slice_mode: str | None = "end",
    axes: Ints | None = None,
) -> Expr:
    """The elements from `begin` to before `end`, `strides` apart, along `axes` (by default the first ones)."""

def subtract(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs - rhs`, elementwise with numpy's broadcasting."""

def sum(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """The sum over `axis`; for booleans, whether any is true."""

def take(
    data: ExprLike,
    indices: ExprLike,
    axis: int | None = None,
    batch_dims: int = 0,
    mode: str = 'clip',
) -> Expr:
    """The slices of the data at `indices` along `axis`, as `numpy.take`; without an axis, of the flattened data."""

def tan(
    data: ExprLike,
) -> Expr:
    """The tangent of x, in radians, elementwise."""

def tanh(
    data: ExprLike,
) -> Expr:
    """The hyperbolic tangent of x, elementwise."""

def tile(
    data: ExprLike,
    reps: Ints,
) -> Expr:
    """The tensor repeated `reps` times along each axis."""

def topk(
    data: ExprLike,
    k: int | None = 1,
    axis: int | None = -1,
    ret_type: str | None = "both",
    is_ascend: bool | None = False,
    dtype: DType | None = None,
) -> Expr:
    """The first `k` elements sorted along `axis`, descending unless `is_ascend` is true, and their indices."""

def transpose(
    data: ExprLike,
    axes: Ints | None = None,
) -> Expr:
    """The data with permuted axes: axis i of the result is axis `axes[i]` of the data. By default, axes are reversed."""

def tree_leaves(
    data: ExprLike,
    features: ExprLike,
    thresholds: ExprLike,
    children: ExprLike,
    trees: int,
    depth: int,
) -> Expr:
    """The node reached in `depth` steps from each of the first `trees` nodes, for each row of the data."""

def trilu(
    data: ExprLike,
    k: ExprLike,
    upper: bool = True,
) -> Expr:
    """The upper triangle of each matrix (the lower one if `upper` is false), with zeros elsewhere."""

def trunc(
    data: ExprLike,
) -> Expr:
    """x truncated towards zero, elementwise; integers are unchanged."""

def trunc_divide(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs / rhs` rounded towards zero, elementwise with numpy's broadcasting."""

def trunc_mod(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The remainder of truncated division, with the sign of `lhs`, elementwise with numpy's broadcasting."""

def unique(
    data: ExprLike,
    is_sorted: bool | None = True,
    return_counts: bool | None = False,
) -> Expr:
    """The distinct elements of a vector, with their indices and counts."""

def unravel_index(
    indices: ExprLike,
    shape: ExprLike,
) -> Expr:
    """The indices along all axes for row-major indices in a tensor of shape `shape`: that along axis k is `y[k, …]`."""

def variance(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: ExprLike | None = None,
) -> Expr:
    """The sum over `axis` of `(data - mean)²`, divided by the number of terms, or by one less with `unbiased`."""

def where(
    condition: ExprLike,
    x: ExprLike,
    y: ExprLike,
) -> Expr:
    """The element of `x` if the condition is true, else of `y`, elementwise with numpy's broadcasting."""

def zeros(
    shape: Ints,
    dtype: DType | None = None,
) -> Expr:
    """A tensor of zeros with shape `shape` and element type `dtype`, by default f32."""

def zeros_like(
    data: ExprLike,
) -> Expr:
    """A tensor of zeros with the type of `data`."""

def mean_std(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
) -> Expr:
    """Returns the tuple of the mean and the standard deviation over some axes."""

def mean_variance(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
) -> Expr:
    """Returns the tuple of the mean and the variance over some axes."""

def reverse_reshape(
    data: ExprLike,
    newshape: int | Sequence[int],
) -> Expr:
    """`contrib_reverse_reshape`, under the name in Relay's Python."""

def segment_sum(
    data: ExprLike,
    segment_ids: ExprLike,
    num_segments: int | Expr | None = None,
) -> Expr:
    """Row s of the result is the sum of the data rows whose segment id is s."""

def sparse_fill_empty_rows(
    sparse_indices: ExprLike,
    sparse_values: ExprLike,
    dense_shape: ExprLike,
    default_value: ExprLike,
) -> Expr:
    """Fills the empty rows of a sparse tensor, given as indices (N, axes) and values, with a default at column 0."""

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "adv_index",
    "all",
    "annotation",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "broadcast_to_like",
    "cast",
    "cast_like",
    "ceil",
    "clip",
    "collapse_sum_like",
    "collapse_sum_to",
    "compress",
    "concatenate",
    "contrib_reverse_reshape",
    "copy",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "dft",
    "divide",
    "dyn",
    "einsum",
    "equal",
    "erf",
    "exp",
    "expand_dims",
    "fast_erf",
    "fast_exp",
    "fast_tanh",
    "fixed_point_multiply",
    "fixed_point_multiply_per_axis",
    "floor",
    "floor_divide",
    "floor_mod",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "greater",
    "greater_equal",
    "image",
    "invert_permutation",
    "isfinite",
    "isinf",
    "isnan",
    "layout_transform",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "matrix_set_diag",
    "max",
    "maximum",
    "mean",
    "mean_std",
    "mean_variance",
    "meshgrid",
    "min",
    "minimum",
    "mod",
    "multiply",
    "ndarray_size",
    "negative",
    "nn",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "power",
    "prod",
    "random",
    "rank_rows",
    "reinterpret",
    "repeat",
    "require",
    "reshape",
    "reshape_like",
    "reverse",
    "reverse_reshape",
    "reverse_sequence",
    "right_shift",
    "round",
    "rsqrt",
    "scatter_elements",
    "scatter_nd",
    "searchsorted",
    "segment_sum",
    "sequence_mask",
    "shape_of",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slice_like",
    "sliding_window",
    "sort",
    "sparse_fill_empty_rows",
    "sparse_reshape",
    "sparse_to_dense",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "std",
    "stft",
    "strided_set",
    "strided_slice",
    "subtract",
    "sum",
    "take",
    "tan",
    "tanh",
    "tile",
    "topk",
    "transpose",
    "tree_leaves",
    "trilu",
    "trunc",
    "trunc_divide",
    "trunc_mod",
    "unique",
    "unravel_index",
    "variance",
    "vision",
    "where",
    "zeros",
    "zeros_like",
]
