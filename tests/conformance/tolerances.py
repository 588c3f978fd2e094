"""How close a result must be: the one table.

A result passes when |got - expected| <= atol + rtol * |expected|, NaN meets NaN and infinities are equal. Integers and
bools are always exact. EXACT functions must give every bit, the sign of zero included (NaN meets any NaN); ANY_ZERO
ones every value. A row of TABLE replaces the default of its function and says why; a row with atol 0 is stricter than
the default: there the relative accuracy near zero is what the function promises.
"""

# dtype -> (rtol, atol). f16 and bf16: one unit in the last place.
DEFAULT = {
    "f64": (1e-12, 1e-12),
    "f32": (2e-6, 1e-6),
    "f16": (2**-10, 1e-6),
    "bf16": (2**-7, 1e-6),
}

EXACT = set("""
    neg abs sign copysign where masked_fill floor ceil round trunc
    cast bitcast full zeros ones full_like zeros_like ones_like constant iota arange eye tril triu
    permute transpose t moveaxis reshape flatten merge_dims split_dims unflatten squeeze unsqueeze expand expand_dim
    broadcast_to repeat tile repeat_interleave slice narrow select pad pad_along flip roll unfold diagonal concat stack
    split chunk unbind gather index_select index_copy take_along_axis gather_elements gather_nd
    embedding one_hot slice_scatter sort argsort topk median max_pool adaptive_max_pool promote broadcast_shapes
    promote_and_broadcast promote_only common_dtype float_dtype promote_to_floats
""".split())

# Exact, but which of 0 and -0 is the larger is left open, and torch's own loops differ in it between dtypes.
ANY_ZERO = set("maximum minimum fmax fmin clip relu relu6 hardtanh max min cummax cummin".split())

# function -> (reason, {dtype: (rtol, atol)}); dtypes that are not named keep the default.
TABLE = {}

# function -> (reason, dtypes): torch's result for these dtypes is not compared with; that of the same call with f64
# operands is, rounded once.
WIDENED = {}


def row(functions, reason, **dtypes):
    for function in functions.split():
        assert function not in TABLE and function not in EXACT, function
        TABLE[function] = (reason, dtypes)


def widen(functions, dtypes, reason):
    for function in functions.split():
        assert function not in WIDENED, function
        WIDENED[function] = (reason, dtypes.split())


def of(function, dtype):
    """The tolerance of one result, as the case stores it."""
    if function in EXACT or dtype not in DEFAULT:
        return {"exact": True}
    if function in ANY_ZERO:
        return {"rtol": 0.0, "atol": 0.0}
    rtol, atol = TABLE.get(function, ("", {}))[1].get(dtype, DEFAULT[dtype])
    return {"rtol": rtol, "atol": atol}


# The largest error of rounding 1.
HALF_UNIT = {"f16": 2**-11, "bf16": 2**-8}


def gpu_atol(function, dtype, operands, expect):
    """What a GPU may add to the error: its tensor cores take the weights of attention in the dtype of the values."""
    if function != "scaled_dot_product_attention" or dtype not in HALF_UNIT:
        return 0.0
    query, key, value, mask = [x.double() if x is not None and x.is_floating_point() else x for x in operands]
    weighed = expect(query, key, value.abs(), mask)
    return HALF_UNIT[dtype] * weighed.max().item() if weighed.numel() > 0 else 0.0


row("dequantise", "a product may or may not be rounded before the minimum is taken off it", f32=(2e-6, 2e-5))
row("sqrt square reciprocal rsqrt log2 sin log1p tan asin atan tanh asinh atanh erf",
    "promises relative accuracy near zero", f64=(1e-12, 0.0), f32=(2e-6, 0.0))
row("exp expm1 sinh", "Exp2(x * log2 e): the rounding of the product grows to 6e-8 * |x|, |x| <= 88; exact near zero",
    f32=(1e-5, 0.0), f64=(1e-12, 0.0))
row("cosh", "as exp", f32=(1e-5, 1e-6))
row("conv3d", "a sum of 48 products that are each rounded to f32", f32=(2e-6, 3e-6))
row("matmul linear einsum", "a sum of 64 products, rounded to f32 as it goes", f32=(2e-6, 5e-6))
row("linspace", "torch rounds the step to the dtype", f16=(2**-9, 1e-6), bf16=(2**-6, 1e-6))

widen("matmul dot linear einsum conv1d conv2d conv3d conv_transpose1d conv_transpose2d", "f32 f16 bf16",
      "the order in which torch sums depends on the machine")
widen("erf", "f32", "torch's vectors for AArch64 are right to five digits only near zero")
widen("softsign rsqrt pow prod logsumexp", "f16 bf16", "torch rounds in between")
widen("gelu", "f32 f16 bf16", "torch's vector loop gives NaN for inf, its scalar and f64 loops give inf")
widen("floor_divide trunc_divide", "f16 bf16",
      "torch's vector and scalar loops round the quotient at different places: 17 / 0.166015625 is 102 or 101")
widen("scaled_dot_product_attention", "f16 bf16", "torch rounds the scores and the weights in between")
widen("layer_norm instance_norm", "f16 bf16", "torch's x*rstd - mean*rstd cancels where x is near the mean")
widen("group_norm", "f32 f16 bf16", "likewise; one element per group cancels 316*|x|")
widen("normalize", "f16 bf16", "torch rounds eps to f16, where it is 0")
widen("adaptive_avg_pool", "f16 bf16", "torch sums 3-D windows in f16 and bf16")
widen("log_softmax", "f16 bf16", "torch rounds x - max before it subtracts the logarithm")
