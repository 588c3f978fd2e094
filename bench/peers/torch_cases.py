"""The patterns in PyTorch: one function for each group of cases, over its inputs by name and its parameters."""
import torch
import torch.nn.functional as F


def product(x, y):
    if x.dtype != torch.int8:
        return x @ y
    return torch._int_mm(x, y)


def gemv(x, weight):
    return F.linear(x, weight) if x.dtype != torch.int8 else torch._int_mm(x, weight.t())


def rms_norm(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, eps=1e-6)


def add_rms_norm(x, residual, weight):
    total = x + residual
    return total, rms_norm(total, weight)


def scale_shift_relu(x, scale, shift):
    return torch.relu(x * scale + shift) + x


def chain(x, y):
    a = torch.tanh(x * y + 0.5)
    b = torch.sigmoid(x - y) * a
    return torch.sqrt(b * b + 1.0) - torch.maximum(a, b)


def attention(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))


def rotated(x):
    low, high = x.chunk(2, -1)
    return torch.cat((-high, low), -1)


def block(x, cos, sin, norm1, wq, wk, wv, wo, norm2, gate, up, down, heads):
    tokens, model = x.shape

    def split(y):
        return y.view(tokens, heads, model // heads).transpose(0, 1)

    def turned(y):
        return y * cos + rotated(y) * sin

    h = rms_norm(x, norm1)
    q, k, v = turned(split(F.linear(h, wq))), turned(split(F.linear(h, wk))), split(F.linear(h, wv))
    mixed = F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), is_causal=True).squeeze(0)
    y = x + F.linear(mixed.transpose(0, 1).reshape(tokens, model), wo)
    n = rms_norm(y, norm2)
    return y + F.linear(F.silu(F.linear(n, gate)) * F.linear(n, up), down)


GROUPS = {
    "matmul": product,
    "gemv": gemv,
    "conv2d": lambda x, weight, stride, padding: F.conv2d(x, weight, stride=stride, padding=padding),
    "softmax": lambda x: F.softmax(x, -1),
    "layer_norm": lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias),
    "rms_norm": rms_norm,
    "add_rms_norm": add_rms_norm,
    "gelu": F.gelu,
    "swiglu": lambda gate, up: F.silu(gate) * up,
    "scale_shift_relu": scale_shift_relu,
    "chain": chain,
    "attention": attention,
    "attention_causal": attention,
    "block": block,
}

DTYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
          "i8": torch.int8, "i32": torch.int32, "i64": torch.int64}


class Pattern(torch.nn.Module):
    """A case as a module: its weights are held, its data are the arguments; gives a tuple of outputs."""

    def __init__(self, case, tensors):
        super().__init__()
        self.function, self.parameters_of_case = GROUPS[case["group"]], case["parameters"]
        self.order = [(i["name"], i["weight"]) for i in case["inputs"]]
        for name, weight in self.order:
            if weight:
                self.register_buffer("w_" + name, tensors[name])
        self.data = [tensors[name] for name, weight in self.order if not weight]

    def forward(self, *data):
        rest = iter(data)
        given = {name: getattr(self, "w_" + name) if weight else next(rest) for name, weight in self.order}
        result = self.function(**given, **self.parameters_of_case)
        return result if isinstance(result, tuple) else (result,)


def make_tensors(case, seed=1):
    """The inputs of a case, the same for everyone who computes it."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for i in case["inputs"]:
        dtype = DTYPES[i["dtype"]]
        if dtype.is_floating_point:
            values = torch.rand(i["dims"], generator=generator) * (i["hi"] - i["lo"]) + i["lo"]
        else:
            values = torch.randint(int(i["lo"]), int(i["hi"]) + 1, i["dims"], generator=generator)
        tensors[i["name"]] = values.to(dtype).contiguous()
    return tensors


def exact_outputs(case, tensors):
    """What the outputs should be: computed in f64 from the same inputs, integers in i64."""
    wide = {name: t.double() for name, t in tensors.items()}
    with torch.no_grad():
        pattern = Pattern(case, wide)
        return pattern(*pattern.data)
