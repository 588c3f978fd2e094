"""The vocabulary of a tensor compiler in the egglog language, and two ways to write with it: as a graph of global lets
(GraphWriter) and as the left side of a rule (PatternWriter). A recipe such as softmax is written once for both."""

from dataclasses import dataclass

DTYPES = ("F64", "F32", "Tf32", "F16", "Bf16", "F8", "I32", "Bool")
UNARY = ("Exp2", "Log2", "Sin", "Recip", "Sqrt")
BINARY = ("Add", "Mul", "Mod", "LessThan")
REDUCE = ("Sum", "Max")

ITER = "(MIter)"
ZERO = "(MNum 0)"


def decimal(value):
    """As a float literal without an exponent."""
    text = f"{value:.10f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def num(value):
    return f"(MNum {value})"


def var(name):
    return f'(MVar "{name}")'


def mul(a, b):
    return f"(MMul {a} {b})"


def elist(items):
    text = "(ENil)"
    for item in reversed(items):
        text = f"(ECons {item} {text})"
    return text


def ilist(items):
    text = "(INil)"
    for item in reversed(items):
        text = f"(ICons {item} {text})"
    return text


def contiguous(dims):
    """Strides as expressions in the running index: z, z*last, z*(last*before) ..."""
    strides, size = [], None
    for dim in reversed(dims):
        strides.append(ITER if size is None else mul(ITER, size))
        size = dim if size is None else mul(size, dim)
    return strides[::-1]


@dataclass(frozen=True)
class Tensor:
    name: str
    dims: tuple
    strides: tuple

    def view(self, dims, strides):
        return Tensor(self.name, tuple(dims), tuple(strides))

    def broadcast(self, dims, axes):
        """As a tensor of `dims`, this one's dimensions being `axes` of them."""
        strides = [ZERO] * len(dims)
        for axis, stride in zip(axes, self.strides):
            strides[axis] = stride
        return self.view(dims, strides)


class Writer:
    """Ops shared by both writers. `emit(kind, fields, inputs)` names the result; a field is (role, text)."""

    def emit(self, kind, fields, inputs):
        raise NotImplementedError

    def tensor(self, name, dims):
        return Tensor(name, tuple(dims), tuple(contiguous(dims)))

    def constant(self, value, dims):
        name = self.emit("Constant", [("value", decimal(value))], [])
        return Tensor(name, tuple(dims), (ZERO,) * len(dims))

    def iota(self, expression, size):
        name = self.emit("Iota", [("size", expression), ("size", size)], [])
        return self.tensor(name, [size])

    def unary(self, kind, x):
        fields = [("shape", elist(x.dims)), ("strides", elist(x.strides)), ("strides", elist(contiguous(x.dims)))]
        return self.tensor(self.emit(kind, fields, [x.name]), x.dims)

    def binary(self, kind, x, y):
        fields = [("shape", elist(x.dims)), ("strides", elist(x.strides)), ("strides", elist(y.strides)),
                  ("strides", elist(contiguous(x.dims)))]
        return self.tensor(self.emit(kind, fields, [x.name, y.name]), x.dims)

    def scale(self, kind, x, value):
        return self.binary(kind, x, self.constant(value, x.dims))

    def reduce(self, kind, x):
        """Over the last dimension."""
        dims = x.dims[:-1]
        fields = [("shape", elist(dims)), ("iters", x.dims[-1]), ("strides", elist(x.strides[:-1])),
                  ("iters", x.strides[-1]), ("strides", elist(contiguous(dims)))]
        return self.tensor(self.emit(kind, fields, [x.name]), dims)

    def keep(self, x, dims):
        """A reduced tensor seen again with the dimension it lost."""
        return x.broadcast(dims, range(len(dims) - 1))

    def cast(self, x, dtype):
        size = None
        for dim in x.dims:
            size = dim if size is None else mul(size, dim)
        return self.tensor(self.emit("Cast", [("size", size), ("dtype", f"({dtype})")], [x.name]), x.dims)

    def gather(self, index, data, dims):
        fields = [("shape", elist(dims)), ("strides", elist(contiguous(dims))), ("shape", elist(data.dims)),
                  ("strides", elist(data.strides))]
        return self.tensor(self.emit("Gather", fields, [index.name, data.name]), dims)

    def scatter(self, data, index, source):
        fields = [("shape", elist(data.dims)), ("strides", elist(data.strides)), ("shape", elist(source.dims)),
                  ("strides", elist(source.strides))]
        return self.tensor(self.emit("Scatter", fields, [data.name, index.name, source.name]), data.dims)


class GraphWriter(Writer):
    """Writes lets, whose names start with `prefix`; equal nodes are written once. The n-th input has id `number(n)`."""

    def __init__(self, prefix, number):
        self.lines = []
        self.names = {}
        self.prefix = prefix
        self.number = number

    def let(self, text):
        if text not in self.names:
            self.names[text] = f"{self.prefix}{len(self.names)}"
            self.lines.append(f"(let {self.names[text]} {text})")
        return self.names[text]

    def emit(self, kind, fields, inputs):
        return self.let(f"(Op ({kind} {' '.join(text for _, text in fields)}) {ilist(inputs)})")

    def input(self, label, dims, dtype):
        return self.tensor(self.let(f'(Input {self.number(len(self.names))} "{label}" ({dtype}))'), dims)


class PatternWriter(Writer):
    """Writes the facts of a rule. Fields whose role is in `exact` are written as they are, for ops among `kinds` (all
    if empty); any other field matches anything."""

    def __init__(self, exact=(), kinds=()):
        self.facts = []
        self.exact = tuple(exact)
        self.kinds = kinds
        self.inputs = []
        self.count = 0

    def fresh(self, prefix):
        self.count += 1
        return f"?{prefix}{self.count}"

    def emit(self, kind, fields, inputs):
        name = self.fresh("t")
        written = ("value", "dtype") + (self.exact if kind in self.kinds or not self.kinds else ())
        texts = [text if role in written else self.fresh("f") for role, text in fields]
        self.facts.append(f"(= {name} (Op ({' '.join([kind, *texts])}) {ilist(inputs)}))")
        return name

    def input(self, label, dims, dtype):
        x = self.tensor(f"?{label}", dims)
        self.inputs.append(x.name)
        if dtype:
            self.facts.append(f"(= ({dtype}) (dtype {x.name}))")
        return x

    def dims(self, *names):
        return [f"?{name}" for name in names]


# Recipes: what layers are made of, in primitive ops.

LOG2_E = 1.442695


def inverse_exp(w, x):
    return w.unary("Exp2", w.scale("Mul", w.scale("Mul", x, -1.0), LOG2_E))


def sigmoid(w, x):
    return w.unary("Recip", w.scale("Add", inverse_exp(w, x), 1.0))


def silu(w, x):
    return w.binary("Mul", x, sigmoid(w, x))


def gelu_polynomial(w, x):
    return w.scale("Add", w.binary("Mul", w.scale("Mul", x, 0.044715), x), 1.0)


def gelu(w, x):
    return w.binary("Mul", x, sigmoid(w, w.binary("Mul", w.scale("Mul", x, 1.595769), gelu_polynomial(w, x))))


def relu(w, x):
    negative = w.cast(w.scale("LessThan", x, 0.0), "F32")
    keep = w.scale("Add", w.scale("Mul", negative, -1.0), 1.0)
    return w.binary("Mul", keep, x)


def shifted_exp(w, x, base=LOG2_E):
    shift = w.scale("Mul", w.reduce("Max", x), -1.0)
    shifted = w.binary("Add", x, w.keep(shift, x.dims))
    return w.unary("Exp2", w.scale("Mul", shifted, base))


def normalised(w, x):
    return w.binary("Mul", x, w.keep(w.unary("Recip", w.reduce("Sum", x)), x.dims))


def softmax(w, x):
    return normalised(w, shifted_exp(w, x))


def mean(w, x, size):
    return w.scale("Mul", w.reduce("Sum", x), 1.0 / size)


def rms_scale(w, x, size, epsilon=1e-5):
    square = w.binary("Mul", x, x)
    return w.unary("Recip", w.unary("Sqrt", w.scale("Add", mean(w, square, size), epsilon)))


def centred(w, x, size):
    return w.binary("Add", x, w.keep(w.scale("Mul", mean(w, x, size), -1.0), x.dims))


def scaled_by(w, x, scale, weight, bias):
    last = [len(x.dims) - 1]
    out = w.binary("Mul", w.binary("Mul", x, w.keep(scale, x.dims)), weight.broadcast(x.dims, last))
    return w.binary("Add", out, bias.broadcast(x.dims, last)) if bias else out


def rms_norm(w, x, weight, size):
    return scaled_by(w, x, rms_scale(w, x, size), weight, None)


def layer_norm(w, x, weight, bias, size):
    x = centred(w, x, size)
    return scaled_by(w, x, rms_scale(w, x, size), weight, bias)


def matmul(w, a, b, layout):
    """a[..., m, k] with b[..., k, n]; `layout` says whether each is stored by rows (R) or columns (C)."""
    *batch, m, k = a.dims
    n = b.dims[-1]
    dims = [*batch, m, n, k]

    def strides(rows, columns, by_rows, zero_at):
        inner = [mul(ITER, columns), ITER] if by_rows else [ITER, mul(ITER, rows)]
        outer = [mul(ITER, mul(rows, columns))] if batch else []
        outer = [mul(ITER, mul(batch[1], mul(rows, columns)))] + outer if len(batch) > 1 else outer
        return [*outer, *inner[:zero_at], ZERO, *inner[zero_at:]]

    a_strides = strides(m, k, layout[0] == "R", 1)
    row, column = strides(k, n, layout[1] == "R", 2)[len(batch):][:2]
    b_outer = strides(k, n, True, 2)[:len(batch)]
    b_strides = [*b_outer, ZERO, column, row]
    product = w.binary("Mul", a.view(dims, a_strides), b.view(dims, b_strides))
    return w.reduce("Sum", product)


def turned_left(w, first, second, cosine, sine):
    return w.binary("Add", w.binary("Mul", first, cosine), w.scale("Mul", w.binary("Mul", second, sine), -1.0))


def turned_right(w, first, second, cosine, sine):
    return w.binary("Add", w.binary("Mul", second, cosine), w.binary("Mul", first, sine))


def joined(w, left, right, cosine, sine, half_index, other_index, dims):
    halves = [w.binary("Mul", w.gather(index, part, dims), mask.view(dims, [ZERO, ZERO, ITER]))
              for index, part, mask in ((half_index, left, cosine), (other_index, right, sine))]
    return w.binary("Add", *halves)


def rope(w, x, cosine, sine, half_index, other_index, half):
    """Rotates the halves of the last dimension."""
    dims = [*x.dims[:-1], half]
    first, second = w.gather(half_index, x, dims), w.gather(other_index, x, dims)
    cosine, sine = cosine.broadcast(dims, [1, 2]), sine.broadcast(dims, [1, 2])
    left = turned_left(w, first, second, cosine, sine)
    right = turned_right(w, first, second, cosine, sine)
    return joined(w, left, right, cosine, sine, half_index, other_index, x.dims)


def causal_mask(w, position, columns, dims):
    blocked = w.binary("LessThan", position.view(dims, [ITER, ZERO]), columns.view(dims, [ZERO, ITER]))
    return w.scale("Mul", w.cast(blocked, "F32"), -1e10)


def scores(w, q, k, dims, grouped):
    h, s, c, d = dims
    k = k.view([h, d, c], [ITER, ITER, mul(ITER, d)])
    k = w.scale("Mul", k, 1.0) if grouped else k
    whole = [h, s, c, d]
    return w.reduce("Sum", w.binary("Mul", q.broadcast(whole, [0, 1, 3]), k.broadcast(whole, [0, 3, 2])))


def mixed_values(w, p, v, dims, grouped):
    h, s, c, d = dims
    v = v.view([h, c, d], [ITER, mul(ITER, d), ITER])
    v = w.scale("Mul", v, 1.0) if grouped else v
    whole = [h, s, d, c]
    return w.reduce("Sum", w.binary("Mul", p.broadcast(whole, [0, 1, 3]), v.broadcast(whole, [0, 3, 2])))


def attention(w, q, k_rows, v_rows, mask, dims, grouped):
    """q[h, s, d] with rows of keys and values [c, kv]."""
    x = w.scale("Mul", scores(w, q, k_rows, dims, grouped), 0.088388)
    x = w.binary("Add", x, mask.broadcast(x.dims, [1, 2]))
    return mixed_values(w, softmax(w, x), v_rows, dims, grouped)
