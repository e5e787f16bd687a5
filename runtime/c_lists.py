"""The part of a model's C header about sequences and optionals: functions that create and read their objects."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.runtime.metadata import TensorSpec

OBJECT_TYPE = "xrelay_object"


def list_texts(specs: Sequence[TensorSpec]) -> str:
    """Returns the functions if an input or output is a sequence or an optional, else an empty text."""
    return _OBJECTS if any(spec.containers for spec in specs) else ""


_OBJECTS = """\
/* A tensor in a list, or a list: a sequence, or an optional with one or no value.
 *
 * Release objects from xrelay_new_tensor and xrelay_new_list with xrelay_free_object, which also frees their items,
 * after the runs that take them have ended and their results are released, since results may refer to parts of them. */
#ifndef XRELAY_OBJECTS
#define XRELAY_OBJECTS
typedef struct xrelay_object {
  int64_t references; /* -1: the model never frees it */
  int64_t length;
  int64_t size;
  int64_t rank;
} xrelay_object;

/* The values or extents after an object's header. */
static inline void *xrelay_tail(const xrelay_object *object) { return (void *)(object + 1); }

static inline xrelay_object *xrelay_new_object(int64_t length, int64_t size, int64_t rank, size_t bytes) {
  xrelay_object *object = (xrelay_object *)aligned_alloc(64, (sizeof *object + bytes + 127) / 64 * 64);
  if (object == NULL) return NULL;
  object->references = -1;
  object->length = length;
  object->size = size;
  object->rank = rank;
  return object;
}

static inline int64_t xrelay_length(const xrelay_object *list) { return list->length; }

static inline xrelay_object *xrelay_item(const xrelay_object *list, int64_t number) {
  return ((xrelay_object **)xrelay_tail(list))[number];
}

static inline int64_t xrelay_rank(const xrelay_object *tensor) { return tensor->rank; }

static inline const int64_t *xrelay_extents(const xrelay_object *tensor) {
  return (const int64_t *)xrelay_tail(tensor);
}

/* The elements of a tensor in row-major order. */
static inline void *xrelay_data(const xrelay_object *tensor) {
  return (char *)tensor + (sizeof *tensor + 8 * (size_t)tensor->rank + 63) / 64 * 64;
}

/* Returns a tensor with a copy of the elements; NULL if out of memory. */
static inline xrelay_object *xrelay_new_tensor(
    const void *data, size_t bytes, int64_t rank, const int64_t *extents) {
  xrelay_object *tensor = xrelay_new_object(0, (int64_t)bytes, rank, 64 + 8 * (size_t)rank + bytes);
  if (tensor == NULL) return NULL;
  if (rank != 0) memcpy(xrelay_tail(tensor), extents, 8 * (size_t)rank);
  if (bytes != 0) memcpy(xrelay_data(tensor), data, bytes);
  return tensor;
}

/* Returns a list that takes ownership of its items; NULL if out of memory. */
static inline xrelay_object *xrelay_new_list(int64_t length, xrelay_object *const *items) {
  xrelay_object *list = xrelay_new_object(length, length, -1, 8 * (size_t)length);
  if (list != NULL && length != 0) memcpy(xrelay_tail(list), items, 8 * (size_t)length);
  return list;
}

/* Frees an object and its items, recursively. */
static inline void xrelay_free_object(xrelay_object *object) {
  if (object == NULL) return;
  for (int64_t i = 0; i < object->length; ++i) xrelay_free_object(xrelay_item(object, i));
  free(object);
}
#endif

"""
