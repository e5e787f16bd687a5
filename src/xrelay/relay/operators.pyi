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
        """The operand itself, a tensor or a tuple, whose parts a gradient may compute again rather than keep."""

    @staticmethod
    def compiler_begin(
        data: ExprLike,
        compiler: str,
    ) -> Expr:
        """The operand itself, a tensor or a tuple, at the border where a region for `compiler` begins."""

    @staticmethod
    def compiler_end(
        data: ExprLike,
        compiler: str,
    ) -> Expr:
        """The operand itself, a tensor or a tuple, at the border where a region for `compiler` ends."""

    @staticmethod
    def stop_fusion(
        data: ExprLike,
    ) -> Expr:
        """The operand itself; `relay-fuse-ops` puts nothing before it and nothing after it into one group, and removes it."""

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
        """The data broadcast with the shape that an operand gives: an extent of 1 in either gives way to the other's."""

    @staticmethod
    def full(
        fill_value: ExprLike,
        shape: ExprLike,
    ) -> Expr:
        """A tensor of the shape that the second operand gives, whose every element is the first."""

    @staticmethod
    def reshape(
        data: ExprLike,
        newshape: ExprLike,
        allowzero: bool | None = False,
    ) -> Expr:
        """The data's elements in the shape that an operand gives: extents, and -1 for what remains."""

    @staticmethod
    def sparse_to_dense(
        sparse_indices: ExprLike,
        output_shape: ExprLike,
        sparse_values: ExprLike,
        default_value: ExprLike,
    ) -> Expr:
        """As `relay.sparse_to_dense`, of the shape that the second operand gives."""

    @staticmethod
    def strided_slice(
        data: ExprLike,
        begin: ExprLike,
        end: ExprLike,
        strides: ExprLike,
        slice_mode: str | None = "end",
    ) -> Expr:
        """The elements of `data` from `begin` to before `end` in steps of `strides`, one number for each axis."""

    @staticmethod
    def tile(
        data: ExprLike,
        reps: ExprLike,
    ) -> Expr:
        """The whole tensor again and again, along each axis as often as an operand says."""

    @staticmethod
    def topk(
        data: ExprLike,
        k: ExprLike,
        axis: int | None = -1,
        ret_type: str | None = "both",
        is_ascend: bool | None = False,
        dtype: DType | None = None,
    ) -> Expr:
        """`relay.topk` whose k is an operand, a number from 0 to the extent of the axis."""


dyn: _Dyn

class _Image:
    @staticmethod
    def affine_grid(
        data: ExprLike,
        target_shape: Ints,
    ) -> Expr:
        """The places of an image of `target_shape` moved by matrices (N, 2, 3), for `image.grid_sample`: (N, 2, H, W)."""

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
        """Boxes of images as images of `crop_size`: box n is `boxes[n]`, corners `y, x, y, x`, of image `box_indices[n]`."""

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
        """The greatest of `data + weight` in a window that slides over each channel; around the data are zeros."""

    @staticmethod
    def grid_sample(
        data: ExprLike,
        grid: ExprLike,
        method: str | None = "bilinear",
        layout: str | None = "NCHW",
        padding_mode: str | None = "zeros",
        align_corners: bool | None = True,
    ) -> Expr:
        """The elements of images, or of volumes, at places between -1 and 1 along each axis."""

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
        """Signals of another length; `image.resize2d` states C8 to C10."""

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
        """Images of another height and width, which are `size`, by the rule of `dyn.image.resize` without a scale."""

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
        """Volumes of another depth, height and width; `image.resize2d` states C8 to C10."""

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
        """The mean of each of `output_size` windows over the width, of integers truncated."""

    @staticmethod
    def adaptive_avg_pool2d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each of `output_size` windows over height and width, of integers truncated."""

    @staticmethod
    def adaptive_avg_pool3d(
        data: ExprLike,
        output_size: Ints | None = (),
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean of each of `output_size` windows over depth, height and width, of integers truncated."""

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
        """The gradient of `nn.avg_pool2d`: each element gets a share of every window that it is in."""

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
        """The gradient of `nn.avg_pool3d`: each element gets a share of every window that it is in."""

    @staticmethod
    def batch_flatten(
        data: ExprLike,
    ) -> Expr:
        """All axes after the first become one."""

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
        """Batch normalisation as at inference time, along `axis`."""

    @staticmethod
    def batch_to_space_nd(
        data: ExprLike,
        block_shape: Ints,
        crops: Ints,
    ) -> Expr:
        """Groups of batches as blocks of `block_shape` places of the axes behind the first, without what `crops` cuts off."""

    @staticmethod
    def bias_add(
        data: ExprLike,
        bias: ExprLike,
        axis: int | None = 1,
    ) -> Expr:
        """Add a vector along one axis: `result[…, i, …] = data[…, i, …] + bias[i]` with `i` at position `axis`."""

    @staticmethod
    def celu(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x` where x ≥ 0, `alpha * (exp(x / alpha) - 1)` below."""

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
        """The mean product, or distance, of windows of two images (N, C, H, W), of which the second is moved."""

    @staticmethod
    def cross_entropy(
        predictions: ExprLike,
        targets: ExprLike,
    ) -> Expr:
        """`-sum(targets * log(predictions)) / rows`: predictions are probabilities."""

    @staticmethod
    def cross_entropy_with_logits(
        predictions: ExprLike,
        targets: ExprLike,
    ) -> Expr:
        """`-sum(targets * predictions) / rows`: predictions are logarithms of probabilities, as `nn.log_softmax` gives."""

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
        """A convolution of images (N, C, H, W) whose window is read at places that `offset` moves."""

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
        """Groups of channels as square blocks of `block_size` pixels."""

    @staticmethod
    def dilate(
        data: ExprLike,
        strides: Ints,
        dilation_value: float | None = 0.0,
    ) -> Expr:
        """The elements `strides` places apart along each axis, with `dilation_value` between them."""

    @staticmethod
    def dropout(
        data: ExprLike,
        rate: float = 0.5,
    ) -> Expr:
        """Dropout as at inference time: the tuple (data, a mask of ones), as in Relay."""

    @staticmethod
    def elu(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x` where x ≥ 0, `alpha * (exp(x) - 1)` below."""

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
        """The buffer without its first elements along `axis`, and the data, which are as many, behind."""

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
        """The mean over all of the width."""

    @staticmethod
    def global_avg_pool2d(
        data: ExprLike,
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean over all of height and width, both kept with extent 1."""

    @staticmethod
    def global_avg_pool3d(
        data: ExprLike,
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The mean over all of depth, height and width."""

    @staticmethod
    def global_max_pool1d(
        data: ExprLike,
        layout: str | None = "NCW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over all of the width."""

    @staticmethod
    def global_max_pool2d(
        data: ExprLike,
        layout: str | None = "NCHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over all of height and width, both kept with extent 1."""

    @staticmethod
    def global_max_pool3d(
        data: ExprLike,
        layout: str | None = "NCDHW",
        out_layout: str | None = "",
    ) -> Expr:
        """The greatest element over all of depth, height and width."""

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
        """`(data - mean) / sqrt(variance + epsilon) * gamma + beta`, with mean and variance of groups of channels."""

    @staticmethod
    def hard_sigmoid(
        data: ExprLike,
        alpha: float | None = 0.2,
        beta: float | None = 0.5,
    ) -> Expr:
        """`alpha * x + beta`, brought between 0 and 1."""

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
        """`data / sqrt(max(sum(data²), eps))`, with the sum over `axis`, over all axes without it."""

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
        """`x` where x ≥ 0, `alpha * x` below."""

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
        """The places of the greatest elements of each window over the width."""

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
        """The greatest element of each window over height and width; padding never wins."""

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
        """The gradient of `nn.max_pool2d`: what `out_grad` has for a window goes to the window's greatest element."""

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
        """The places of the elements that `nn.max_pool2d` gives, as numbers of elements within one channel of one image."""

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
        """The gradient of `nn.max_pool3d`: what `out_grad` has for a window goes to the window's greatest element."""

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
        """The places of the greatest elements of each window over depth, height and width."""

    @staticmethod
    def mirror_pad(
        data: ExprLike,
        pad_width: Ints,
        mode: str | None = "SYMMETRIC",
    ) -> Expr:
        """The data with what mirrors at its ends show: `pad_width` lists (before, after) for every axis in one flat array."""

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
        """`-predictions[n, t, …] * weights[t]` for t = `targets[n, …]`, a class: the loss of each target."""

    @staticmethod
    def pad(
        data: ExprLike,
        pad_width: Sequence[Sequence[int]] | Expr,
        pad_value: ExprLike = 0.0,
        pad_mode: str = 'constant',
    ) -> Expr:
        """Elements added around the data: `pad_width` lists (before, after) for every axis in one flat array."""

    @staticmethod
    def prelu(
        data: ExprLike,
        alpha: ExprLike,
        axis: int | None = 1,
    ) -> Expr:
        """`x` where x ≥ 0, `alpha[c] * x` below, with c the index along `axis`."""

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
        """`gamma * x` where x ≥ 0, `gamma * alpha * (exp(x) - 1)` below."""

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
        """Blocks of `block_shape` places of the axes behind the first as groups of batches."""

    @staticmethod
    def space_to_depth(
        data: ExprLike,
        block_size: int,
        layout: str | None = "NCHW",
    ) -> Expr:
        """Square blocks of `block_size` pixels as groups of channels."""

    @staticmethod
    def sparse_add(
        dense_mat: ExprLike,
        sparse_mat: SparseParts | Sequence[ExprLike],
    ) -> Expr:
        """A matrix plus a sparse one of the same shape, whose values are a list (CSR; see `relay.nn.sparse_dense`)."""

    @staticmethod
    def sparse_conv2d(
        dense_data: ExprLike,
        sparse_data: ExprLike,
        sparse_indices: ExprLike,
        sparse_indptr: ExprLike,
        layout: str | None = "NHWC",
        kernel_size: Ints | None = (1, 1),
    ) -> Expr:
        """A convolution with a sparse weight (n, k) in blocks (BSR), with steps of 1, as large as the data."""

    @staticmethod
    def sparse_dense(
        dense_mat: ExprLike,
        sparse_mat: SparseParts | Sequence[ExprLike],
        sparse_lhs: bool = False,
    ) -> Expr:
        """The product of a matrix (m, k) and the transpose of a sparse matrix (n, k), (m, n); or the other way round."""

    @staticmethod
    def sparse_transpose(
        x: SparseParts | Sequence[ExprLike],
    ) -> Expr:
        """The transpose of a square sparse matrix whose values are a list (CSR; see `relay.nn.sparse_dense`), as its parts."""

    @staticmethod
    def swish(
        data: ExprLike,
        alpha: float | None = 1.0,
    ) -> Expr:
        """`x * sigmoid(alpha * x)`; with an `alpha` of 1 it is also called SiLU."""

    @staticmethod
    def thresholded_relu(
        data: ExprLike,
        theta: float | None = 1.0,
    ) -> Expr:
        """`x` where x > `theta`, 0 elsewhere."""

    @staticmethod
    def upsampling(
        data: ExprLike,
        scale_h: float | Expr = 1,
        scale_w: float | Expr = 1,
        layout: str = 'NCHW',
        method: str = 'nearest_neighbor',
        align_corners: bool = False,
    ) -> Expr:
        """Images `scale_h` times as high and `scale_w` times as wide, as `image.resize2d` makes them."""

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
        """Volumes `scale_d` times as deep, `scale_h` times as high and `scale_w` times as wide, as `image.resize3d` does."""

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
        """The absolute value of what each quantised number stands for, quantised."""

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
        """The quantised tensors of a tuple one after the other along `axis`, each requantised to the result's scale."""

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
        """Two-dimensional convolution of quantised images: `nn.conv2d` of the distances from the zero points, of i32."""

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
        """Two-dimensional transposed convolution of quantised images: `nn.conv2d_transpose` of the distances, of i32."""

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
        """`input_scale * (data - input_zero_point)`: what each quantised number stands for."""

    @staticmethod
    def erf(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The error function of what each quantised number stands for, quantised."""

    @staticmethod
    def exp(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The exponential of what each quantised number stands for, quantised."""

    @staticmethod
    def hardswish(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """`x * min(max(x + 3, 0), 6) / 6` of what each quantised number stands for, quantised."""

    @staticmethod
    def leaky_relu(
        x: ExprLike,
        alpha: float,
        input_scale: ExprLike,
        input_zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """`x` where x ≥ 0, `alpha * x` below, of what each quantised number stands for."""

    @staticmethod
    def log(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The natural logarithm of what each quantised number stands for, quantised; the zero point where it is no number."""

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
        """`round(data / output_scale) + output_zero_point`, saturated: the number that stands for each element."""

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
        """One over the root of what each quantised number stands for, quantised; the zero point where it is no number."""

    @staticmethod
    def sigmoid(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The sigmoid, `1 / (1 + exp(-x))`, of what each quantised number stands for, quantised."""

    @staticmethod
    def softmax(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
        axis: int | None = -1,
    ) -> Expr:
        """The softmax along `axis` of what each quantised number stands for, quantised."""

    @staticmethod
    def sqrt(
        x: ExprLike,
        scale: ExprLike,
        zero_point: ExprLike,
        output_scale: ExprLike,
        output_zero_point: ExprLike,
    ) -> Expr:
        """The square root of what each quantised number stands for, quantised; the zero point where it is no number."""

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
        """The hyperbolic tangent of what each quantised number stands for, quantised."""

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
        """A new key and `num_samples` classes for each row of probabilities, drawn with them; they need not add up to 1."""

    @staticmethod
    def normal(
        key: ExprLike,
        shape: Sequence[int],
        dtype: str = 'float32',
        mean: ExprLike = 0.0,
        scale: ExprLike = 1.0,
    ) -> Expr:
        """A new key and floats of a normal distribution with a mean and a standard deviation, `scale`."""

    @staticmethod
    def threefry_generate(
        key: ExprLike,
        shape: Sequence[int],
    ) -> Expr:
        """A new key and words of `out_shape`, of which each four in turn are the hash of the key, path and counter."""

    @staticmethod
    def threefry_split(
        key: ExprLike,
    ) -> Expr:
        """Two keys whose numbers have nothing to do with each other: the path goes on with 0 in the first, 1 in the second."""

    @staticmethod
    def uniform(
        key: ExprLike,
        shape: Sequence[int],
        dtype: str = 'float32',
        low: ExprLike = 0.0,
        high: ExprLike = 1.0,
    ) -> Expr:
        """A new key and floats from `low` on and below `high`, evenly spread."""

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
        """Of boxes that overlap those with the best scores, chosen for each class of each batch by itself."""

    @staticmethod
    def get_valid_counts(
        data: ExprLike,
        score_threshold: ExprLike,
        id_index: int | None = 0,
        score_index: int | None = 1,
    ) -> Expr:
        """The boxes of each batch whose score is greater than a threshold, and whose class is not negative, in front."""

    @staticmethod
    def multibox_prior(
        data: ExprLike,
        sizes: Floats | None = (1.0,),
        ratios: Floats | None = (1.0,),
        steps: Floats | None = (-1.0, -1.0),
        offsets: Floats | None = (0.5, 0.5),
        clip: bool | None = False,
    ) -> Expr:
        """Boxes around the places of an image (N, C, H, W), whose elements are not read: (1, H·W·k, 4), left to bottom."""

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
        """Boxes moved as predicted, with the best class of each: rows `class, score, left, top, right, bottom`."""

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
        """Of the first `valid_count` boxes of each batch, by falling score, those that overlap none with a better score."""

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
        """The regions of a region proposal network with the best scores that do not overlap much: `image, x, y, x, y`."""

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
        """The detections with the best scores in each image, after suppression in each class by itself, as TFLite has it."""

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
        """Regions of images as images of `pooled_size`, each element the mean of places between the region's elements."""

    @staticmethod
    def roi_pool(
        data: ExprLike,
        rois: ExprLike,
        pooled_size: Ints,
        spatial_scale: float,
        layout: str | None = "NCHW",
    ) -> Expr:
        """Regions of images as images of `pooled_size`, each element the greatest of a bin of the region's elements."""

    @staticmethod
    def yolo_reorg(
        data: ExprLike,
        stride: int,
    ) -> Expr:
        """Pixels of blocks as channels, as Darknet numbers them: of data (N, C, H, W), (N, C·s², H/s, W/s) for `stride` s."""


vision: _Vision

def abs(
    data: ExprLike,
) -> Expr:
    """The absolute value of x, elementwise."""

def acos(
    data: ExprLike,
) -> Expr:
    """The angle in [0, π] whose cosine is x; not a number outside of [-1, 1], elementwise."""

def acosh(
    data: ExprLike,
) -> Expr:
    """The number, not negative, whose hyperbolic cosine is x; not a number where x is less than 1, elementwise."""

def add(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs + rhs`, elementwise with numpy's broadcasting."""

def adv_index(
    inputs: ExprLike,
) -> Expr:
    """`data[i, j, …]` for indices i, j, … of the first axes that broadcast to one shape, as numpy has it."""

def all(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """Whether every element over `axis` is true; of none, true."""

def any(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """Whether some element over `axis` is true; of none, false."""

def arange(
    start: ExprLike,
    stop: ExprLike | None = None,
    step: ExprLike | None = None,
    dtype: str = 'float32',
) -> Expr:
    """`start + i * step` for i from 0 while that has not reached `stop`: `max(ceil((stop - start) / step), 0)` numbers."""

def argmax(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    select_last_index: bool | None = False,
) -> Expr:
    """The index of the greatest element over `axis`, as i32; over several axes, as if they were one."""

def argmin(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    select_last_index: bool | None = False,
) -> Expr:
    """The index of the least element over `axis`, as i32; over several axes, as if they were one."""

def argsort(
    data: ExprLike,
    axis: int | None = -1,
    is_ascend: bool | None = True,
    dtype: DType | None = None,
) -> Expr:
    """The places along `axis` from which the elements come when they are sorted, as i32 or `dtype`."""

def argwhere(
    condition: ExprLike,
) -> Expr:
    """The indices of the elements that are not zero, one row for each, in row-major order; a NaN is not zero."""

def asin(
    data: ExprLike,
) -> Expr:
    """The angle in [-π/2, π/2] whose sine is x; not a number outside of [-1, 1], elementwise."""

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
    """The number whose hyperbolic tangent is x; infinite at 1 and -1, not a number beyond, elementwise."""

def bitwise_and(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The bits that both have, elementwise with numpy's broadcasting."""

def bitwise_not(
    data: ExprLike,
) -> Expr:
    """All bits the other way round, elementwise."""

def bitwise_or(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The bits that at least one has, elementwise with numpy's broadcasting."""

def bitwise_xor(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The bits that exactly one has, elementwise with numpy's broadcasting."""

def broadcast_to(
    data: ExprLike,
    shape: Ints,
) -> Expr:
    """The data in `shape`, repeated along axes that it lacks or where its extent is 1."""

def broadcast_to_like(
    data: ExprLike,
    broadcast_type: ExprLike,
) -> Expr:
    """The data in the shape of `broadcast_type`, repeated along axes that it lacks or where its extent is 1."""

def cast(
    data: ExprLike,
    dtype: DType,
) -> Expr:
    """Each element converted to `dtype`: floats to integers truncate towards zero, to bool is `x != 0`."""

def cast_like(
    data: ExprLike,
    dtype_like: ExprLike,
) -> Expr:
    """Each element converted, as `cast` does, to the element type of `dtype_like`, whose elements are not read."""

def ceil(
    data: ExprLike,
) -> Expr:
    """The least whole number that is not less than x; integers stay, elementwise."""

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
    """The data summed along the axes that `collapse_type` lacks or where its extent is 1: what undoes a broadcast."""

def collapse_sum_to(
    data: ExprLike,
    shape: ExprLike | Sequence[int],
) -> Expr:
    """The data summed to the shape that an operand gives: along axes that it lacks, or where it has an extent of 1."""

def compress(
    data: ExprLike,
    condition: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The slices of `data` along `axis` for which the condition is true, in their order."""

def concatenate(
    data: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The tensors of a tuple one after the other along `axis`."""

def contrib_reverse_reshape(
    data: ExprLike,
    newshape: Ints,
) -> Expr:
    """The same elements in another shape, given by Relay's codes, which are read from the last to the first."""

def copy(
    data: ExprLike,
) -> Expr:
    """x as it is, elementwise."""

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
    """The product of all elements up to each along `axis`; without an axis the data count as one row."""

def cumsum(
    data: ExprLike,
    axis: int | None = None,
    dtype: DType | None = None,
    exclusive: bool | None = False,
) -> Expr:
    """The sum of all elements up to each along `axis`; without an axis the data count as one row."""

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
    """`lhs / rhs`, elementwise with numpy's broadcasting; of integers, truncated towards zero."""

def einsum(
    data: ExprLike,
    equation: str,
) -> Expr:
    """The sum of products of the tensors of a tuple, whose axes `equation` names: `"ij,jk->ik"` is a matrix product."""

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
    """Insert `num_newaxis` axes of extent 1 at position `axis` of the result."""

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
    """The greatest whole number that is not greater than x; integers stay, elementwise."""

def floor_divide(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The quotient rounded down, elementwise with numpy's broadcasting."""

def floor_mod(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The remainder of a division downwards, with the sign of `rhs`, elementwise with numpy's broadcasting."""

def full(
    fill_value: ExprLike,
    shape: int | Sequence[int] | Expr = (),
    dtype: str | None = None,
) -> Expr:
    """A tensor of `shape` whose every element is the number `fill_value`, of its element type or of `dtype`."""

def full_like(
    data: ExprLike,
    fill_value: ExprLike,
) -> Expr:
    """A tensor of the type of `data` whose every element is the number `fill_value`, converted to its element type."""

def gather(
    data: ExprLike,
    axis: int,
    indices: ExprLike,
) -> Expr:
    """The element of the data whose index along `axis` is that of `indices`, the other indices being the result's own."""

def gather_nd(
    data: ExprLike,
    indices: ExprLike,
    batch_dims: int | None = 0,
    index_rank: int | None = None,
) -> Expr:
    """The slices of the data at index tuples, which the first axis of `indices` holds."""

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
    """The permutation that undoes one: `y[x[i]] = i`. An index out of range fails; no order is said of equal ones."""

def isfinite(
    data: ExprLike,
) -> Expr:
    """Whether x is a number and not infinite, as every integer is, elementwise."""

def isinf(
    data: ExprLike,
) -> Expr:
    """Whether x is infinite, which no integer is, elementwise."""

def isnan(
    data: ExprLike,
) -> Expr:
    """Whether x is not a number, which no integer is, elementwise."""

def layout_transform(
    data: ExprLike,
    src_layout: str,
    dst_layout: str,
) -> Expr:
    """The same tensor in another layout; blocks that are not full are filled with zeros."""

def left_shift(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The bits of `lhs` moved up by `rhs` places, zeros from below, elementwise with numpy's broadcasting."""

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
    """The logarithm of x to base 10; not a number where x is negative, elementwise."""

def log2(
    data: ExprLike,
) -> Expr:
    """The logarithm of x to base 2; not a number where x is negative, elementwise."""

def logical_and(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Whether both are true, elementwise with numpy's broadcasting."""

def logical_not(
    data: ExprLike,
) -> Expr:
    """Whether x is false, elementwise."""

def logical_or(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Whether at least one is true, elementwise with numpy's broadcasting."""

def logical_xor(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """Whether exactly one is true, elementwise with numpy's broadcasting."""

def logsumexp(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
) -> Expr:
    """`m + log(sum(exp(x - m)))` over `axis`, with m the greatest element; m alone where that is infinite."""

def matrix_set_diag(
    data: ExprLike,
    diagonal: ExprLike,
    k: int | Sequence[int] = 0,
    align: str = 'RIGHT_LEFT',
) -> Expr:
    """Matrices with other diagonals: those from `k1` to `k2` to the right of the main one, 0, are rows of `diagonal`."""

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
    """The mean over `axis`; of integers, the sum divided by the count and truncated."""

def meshgrid(
    data: ExprLike,
    indexing: str | None = "ij",
) -> Expr:
    """Of n vectors, n tensors of n axes: the k-th has the k-th vector along its k-th axis, wherever on the others."""

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
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting."""

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
    """`on_value` where a new axis of extent `depth` counts what the index says, `off_value` elsewhere."""

def ones(
    shape: Ints,
    dtype: DType | None = None,
) -> Expr:
    """A tensor of `shape` of ones of type `dtype`, by default f32."""

def ones_like(
    data: ExprLike,
) -> Expr:
    """Ones in the type of `data`."""

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
    """The product over `axis`; of truth values, whether all of them hold."""

def rank_rows(
    data: ExprLike,
) -> Expr:
    """For each row of a matrix, how many rows come before it in lexicographic order; equal rows have the same number."""

def reinterpret(
    data: ExprLike,
    dtype: DType,
) -> Expr:
    """The bits of each element as an element of `dtype`, which has as many: of 1.0 in f32 the integer 0x3F800000."""

def repeat(
    data: ExprLike,
    repeats: int,
    axis: int | None = 0,
) -> Expr:
    """Each element `repeats` times along `axis`, one after the other."""

def require(
    data: ExprLike,
    demands: AttributeValue | None = None,
) -> Expr:
    """The operand itself, where `demands` hold of named dimensions."""

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
    """The data's elements with the axes `lhs_begin` to before `lhs_end` in the shape of the other's axes `rhs_…`."""

def reverse(
    data: ExprLike,
    axis: int,
) -> Expr:
    """The data with the elements along `axis` in the reverse order."""

def reverse_sequence(
    data: ExprLike,
    seq_lengths: ExprLike,
    seq_axis: int = 1,
    batch_axis: int = 0,
) -> Expr:
    """The first elements of each sequence backwards, the others as they are."""

def right_shift(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The bits of `lhs` moved down by `rhs` places, the sign from above, elementwise with numpy's broadcasting."""

def round(
    data: ExprLike,
) -> Expr:
    """The nearest whole number, of two the even one; integers stay, elementwise."""

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
    """The data with updates at the places whose index along `axis` `indices` says, the others being the update's own."""

def scatter_nd(
    data: ExprLike,
    indices: ExprLike,
    updates: ExprLike,
    mode: str | None = "update",
) -> Expr:
    """The data with updates of the slices at index tuples, which the first axis of `indices` holds."""

def searchsorted(
    sorted_sequence: ExprLike,
    values: ExprLike,
    right: bool | None = False,
    dtype: DType | None = None,
) -> Expr:
    """For each of `values` the place in an ascending row before which it may stand, so that the row stays ascending."""

def sequence_mask(
    data: ExprLike,
    valid_length: ExprLike,
    mask_value: float | None = 0.0,
    axis: int | None = 0,
) -> Expr:
    """The data with `mask_value` from place `valid_length[b]` along `axis` on, of batch b along the other of two axes."""

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
    """1 where x is positive, -1 where it is negative, else 0; not a number stays that, elementwise."""

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
    """The first elements of the data along `axes`, as many as `shape_like` has; without axes, along all of both."""

def sliding_window(
    data: ExprLike,
    axis: int,
    window_shape: Ints,
    strides: Ints,
) -> Expr:
    """Windows over the axes from `axis` on: `result[x…, i…, k…] = data[x…, i * strides + k …]`."""

def sort(
    data: ExprLike,
    axis: int | None = -1,
    is_ascend: bool | None = True,
) -> Expr:
    """The elements in order along `axis`; ascending unless `is_ascend` is false."""

def sparse_reshape(
    sparse_indices: ExprLike,
    prev_shape: ExprLike,
    new_shape: ExprLike,
) -> Expr:
    """The places of a sparse tensor of shape `prev_shape` in the same tensor of shape `new_shape`, and that shape."""

def sparse_to_dense(
    sparse_indices: ExprLike,
    output_shape: Sequence[int] | Expr,
    sparse_values: ExprLike,
    default_value: ExprLike = 0,
) -> Expr:
    """A tensor of `output_shape` with the values at the places that `sparse_indices` names, and the default elsewhere."""

def split(
    data: ExprLike,
    indices_or_sections: Ints,
    axis: int | None = 0,
) -> Expr:
    """A tensor cut along `axis` into the fields of a tuple."""

def sqrt(
    data: ExprLike,
) -> Expr:
    """The square root of x; not a number where x is negative, elementwise."""

def squeeze(
    data: ExprLike,
    axis: Ints | None = None,
) -> Expr:
    """Leave out axes of extent 1: those named by `axis`, or all."""

def stack(
    data: ExprLike,
    axis: int | None = 0,
) -> Expr:
    """The fields of a tuple, of one type, side by side along a new axis, which becomes `axis` of the result."""

def std(
    data: ExprLike,
    axis: Ints | None = None,
    keepdims: bool | None = False,
    exclude: bool | None = False,
    unbiased: bool | None = False,
) -> Expr:
    """The square root of the variance over `axis`, with `unbiased` of that which divides by one less."""

def stft(
    data: ExprLike,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: ExprLike | None = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Expr:
    """Fourier transforms of frames of a signal, each `hop_length` behind the one before: (frequencies, frames, 2)."""

def strided_set(
    data: ExprLike,
    v: ExprLike,
    begin: ExprLike | Sequence[int],
    end: ExprLike | Sequence[int],
    strides: ExprLike | Sequence[int] | None = None,
) -> Expr:
    """The data with the elements of `v` in a slice: from `begin` to before `end`, by `strides`, along the first axes."""

def strided_slice(
    data: ExprLike,
    begin: Ints,
    end: Ints,
    strides: Ints | None = (1,),
    slice_mode: str | None = "end",
    axes: Ints | None = None,
) -> Expr:
    """The elements from `begin` to before `end`, `strides` apart, along `axes` (the first ones where none are named)."""

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
    """The sum over `axis`; of truth values, whether one of them holds."""

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
    """The whole tensor again and again, `reps` times along each axis."""

def topk(
    data: ExprLike,
    k: int | None = 1,
    axis: int | None = -1,
    ret_type: str | None = "both",
    is_ascend: bool | None = False,
    dtype: DType | None = None,
) -> Expr:
    """The first `k` elements along `axis` when it is sorted, descending unless `is_ascend` is true, and their places."""

def transpose(
    data: ExprLike,
    axes: Ints | None = None,
) -> Expr:
    """Axes in another order: axis i of the result is axis `axes[i]` of the data; reversed without `axes`."""

def tree_leaves(
    data: ExprLike,
    features: ExprLike,
    thresholds: ExprLike,
    children: ExprLike,
    trees: int,
    depth: int,
) -> Expr:
    """For each row of the data and each of the first `trees` nodes, the node reached from it in `depth` steps."""

def trilu(
    data: ExprLike,
    k: ExprLike,
    upper: bool = True,
) -> Expr:
    """The upper triangle of each matrix (the lower one where `upper` is false), zeros elsewhere."""

def trunc(
    data: ExprLike,
) -> Expr:
    """x without its fraction; integers stay, elementwise."""

def trunc_divide(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """`lhs / rhs` rounded towards zero, elementwise with numpy's broadcasting."""

def trunc_mod(
    lhs: ExprLike,
    rhs: ExprLike,
) -> Expr:
    """The remainder of a division towards zero, with the sign of `lhs`, elementwise with numpy's broadcasting."""

def unique(
    data: ExprLike,
    is_sorted: bool | None = True,
    return_counts: bool | None = False,
) -> Expr:
    """The different elements of a list, and how the list is made of them."""

def unravel_index(
    indices: ExprLike,
    shape: ExprLike,
) -> Expr:
    """The indices of a tensor of shape `shape` at row-major places: an index along axis k is `y[k, …]`."""

def variance(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: ExprLike | None = None,
) -> Expr:
    """The sum over `axis` of `(data - mean)²`, divided by the number of terms, with `unbiased` by one less."""

def where(
    condition: ExprLike,
    x: ExprLike,
    y: ExprLike,
) -> Expr:
    """The element of `x` where the condition holds and of `y` elsewhere, with numpy's broadcasting."""

def zeros(
    shape: Ints,
    dtype: DType | None = None,
) -> Expr:
    """A tensor of `shape` of zeros of type `dtype`, by default f32."""

def zeros_like(
    data: ExprLike,
) -> Expr:
    """Zeros in the type of `data`."""

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
