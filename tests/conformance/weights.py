#!/usr/bin/env python3
"""Compares the weight files of `lumen` with the PyPI packages gguf and safetensors, in both directions.

Blocks are compared bit for bit. The last line is `weights: N passed, M failed`.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFWriter, quants
from gguf.constants import GGML_QUANT_SIZES
from safetensors.numpy import load_file, save_file

BLOCK_TYPES = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "MXFP4"]
CONFIG = {
    "model_type": "llama", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96,
    "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False,
}


class Checks:
    def __init__(self, lumen):
        self.lumen = lumen
        self.passed = self.failed = 0

    def expect(self, what, holds):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print(f"FAILED: {what}")

    def run(self, *arguments):
        """What the program printed; a failure of the program is a failed check."""
        done = subprocess.run([self.lumen, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            self.expect(f"lumen {' '.join(map(str, arguments))}: {done.stderr.strip()}", False)
        return done.stdout


def same_bits(a, b):
    return a.shape == b.shape and np.array_equal(a.astype(np.float32).view(np.uint32), b.astype(np.float32).view(np.uint32))


def random_blocks(rng, name, rows, blocks):
    """Any bytes whose values are finite."""
    elements, size = GGML_QUANT_SIZES[Type[name]]
    result = rng.integers(0, 256, (rows * blocks, size), dtype=np.uint8)
    while True:
        bad = ~np.isfinite(quants.dequantize(result, Type[name])).all(axis=1)
        if not bad.any():
            return result.reshape(rows, blocks * size)
        result[bad] = rng.integers(0, 256, (bad.sum(), size), dtype=np.uint8)


def check_reading(checks, folder, rng):
    """A file that the package wrote: every block type as f32."""
    path = folder / "blocks.gguf"
    writer = GGUFWriter(path, "test")
    wanted = {}
    for name in BLOCK_TYPES:
        blocks = random_blocks(rng, name, 64, 4)
        wanted[name] = quants.dequantize(blocks, Type[name])
        writer.add_tensor(name, blocks, raw_dtype=Type[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    checks.run("convert", "--raw", path, folder / "blocks.safetensors", "--type", "f32")
    got = load_file(folder / "blocks.safetensors")
    for name in BLOCK_TYPES:
        checks.expect(f"{name} as f32", same_bits(got[name], wanted[name]))


def check_quantising(checks, folder, rng):
    values = {
        "normal": rng.standard_normal((64, 256)).astype(np.float32),
        "wide": (rng.standard_normal((64, 256)) * 10.0 ** rng.integers(-6, 4, (64, 256))).astype(np.float32),
        "halves": rng.integers(-254, 255, (64, 64)).astype(np.float32) / 2,
        "zeros": np.zeros((4, 32), np.float32),
    }
    save_file(values, folder / "plain.safetensors")
    for name in ["Q8_0", "Q4_0"]:
        out = folder / f"{name}.gguf"
        checks.run("convert", "--raw", folder / "plain.safetensors", out, "--type", name.lower())
        for tensor in GGUFReader(out).tensors:
            wanted = quants.quantize(values[tensor.name], Type[name])
            checks.expect(f"{tensor.name} as {name}",
                          tensor.tensor_type == Type[name] and np.array_equal(np.asarray(tensor.data), wanted))


def permuted(weights, heads):
    """The order of rows that GGUF's llama has."""
    rows = weights.shape[0]
    return weights.reshape(heads, 2, rows // heads // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def llama_weights(rng):
    c = CONFIG
    width, hidden, keys = c["hidden_size"], c["intermediate_size"], c["hidden_size"] // 2
    dims = {"model.embed_tokens": (c["vocab_size"], width), "model.norm": (width,), "lm_head": (c["vocab_size"], width)}
    for n in range(c["num_hidden_layers"]):
        for name, shape in {
            "input_layernorm": (width,), "post_attention_layernorm": (width,), "self_attn.q_proj": (width, width),
            "self_attn.k_proj": (keys, width), "self_attn.v_proj": (keys, width), "self_attn.o_proj": (width, width),
            "mlp.gate_proj": (hidden, width), "mlp.up_proj": (hidden, width), "mlp.down_proj": (width, hidden),
        }.items():
            dims[f"model.layers.{n}.{name}"] = shape
    return {f"{name}.weight": rng.standard_normal(shape).astype(np.float32) for name, shape in dims.items()}


def check_llama(checks, folder, rng):
    """A model there and back; its shards, its metadata, its rows."""
    weights = llama_weights(rng)
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(CONFIG))
    names = sorted(weights)
    shards = {"a.safetensors": names[:7], "b.safetensors": names[7:]}
    for shard, held in shards.items():
        save_file({name: weights[name] for name in held}, model / shard)
    index = {"weight_map": {name: shard for shard, held in shards.items() for name in held}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    checks.run("convert", model, folder / "llama.gguf")
    reader = GGUFReader(folder / "llama.gguf")
    tensors = {tensor.name: np.asarray(tensor.data) for tensor in reader.tensors}
    checks.expect("as many tensors", len(tensors) == len(weights))
    heads, grouped = CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"]
    for n in range(2):
        source = f"model.layers.{n}."
        for ggml, name, count in [("attn_q", "self_attn.q_proj", heads), ("attn_k", "self_attn.k_proj", grouped)]:
            wanted = permuted(weights[f"{source}{name}.weight"], count)
            checks.expect(f"rows of {ggml}", same_bits(tensors[f"blk.{n}.{ggml}.weight"], wanted))
        checks.expect("ffn_down", same_bits(tensors[f"blk.{n}.ffn_down.weight"], weights[f"{source}mlp.down_proj.weight"]))
        checks.expect("ffn_norm", same_bits(tensors[f"blk.{n}.ffn_norm.weight"],
                                            weights[f"{source}post_attention_layernorm.weight"]))
    value = lambda key: reader.fields[key].contents()
    for key, wanted in {"general.architecture": "llama", "llama.block_count": 2, "llama.attention.head_count_kv": 2,
                        "llama.feed_forward_length": 96, "llama.context_length": 128, "llama.rope.freq_base": 500000.0,
                        "llama.rope.dimension_count": 16, "general.file_type": 0}.items():
        checks.expect(f"{key} is {value(key)}", value(key) == wanted)
    checks.run("convert", folder / "llama.gguf", folder / "back")
    back = load_file(folder / "back" / "model.safetensors")
    checks.expect("the same names", sorted(back) == names)
    checks.expect("the same weights", all(same_bits(back[name], weights[name]) for name in names))
    config = json.loads((folder / "back" / "config.json").read_text())
    for key in CONFIG:
        same = abs(config[key] - CONFIG[key]) < 1e-9 if isinstance(CONFIG[key], float) else config[key] == CONFIG[key]
        checks.expect(f"config.json: {key} is {config[key]}", same)


def check_random_model(checks, folder):
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": 400, "hidden_size": 128}))
    for name in ["a", "b"]:
        checks.run("convert", "--random-weights", folder / "config.json", folder / f"{name}.gguf", "--type", "q8_0")
    checks.expect("the same seed, the same file", (folder / "a.gguf").read_bytes() == (folder / "b.gguf").read_bytes())
    reader = GGUFReader(folder / "a.gguf")
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    checks.expect("tokens", len(set(tokens)) == 400 and tokens[:4] == ["<unk>", "<s>", "</s>", "<0x00>"])
    checks.expect("tensors", len(reader.tensors) == 3 + 2 * 9)
    spread = {t.name: np.std(quants.dequantize(t.data, t.tensor_type)) * np.sqrt(t.shape[0])
              for t in reader.tensors if len(t.shape) == 2}
    checks.expect(f"spread {spread}", all(0.8 < each < 1.2 for each in spread.values()))


def main():
    np.seterr(all="ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", default="build/release/lumen")
    checks = Checks(pathlib.Path(parser.parse_args().lumen).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rng = np.random.default_rng(20)
        check_reading(checks, folder, rng)
        check_quantising(checks, folder, rng)
        check_llama(checks, folder, rng)
        check_random_model(checks, folder)
    print(f"weights: {checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
