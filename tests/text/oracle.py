#!/usr/bin/env python3
"""Compares Lumen's tokenizers and chat templates with Hugging Face tokenizers, sentencepiece, tiktoken and jinja2.

    oracle.py --program build/release/conformance_text [--only NAME] [--strings N] [--keep FOLDER]

Vocabularies are trained on the spot, with the parts of known models. The last line counts strings and templates.
"""

import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import sentencepiece
import tiktoken
from tokenizers import pre_tokenizers

import oracle_strings
import oracle_templates
import oracle_tokenizers as kinds


def pack_strings(strings):
    return b"".join(struct.pack("<I", len(text)) + text for text in strings)


def unpack(data, unit):
    records, at = [], 0
    while at < len(data):
        (count,) = struct.unpack_from("<I", data, at)
        records.append(data[at + 4 : at + 4 + count * unit])
        at += 4 + count * unit
    return records


def pack_ids(lists):
    return b"".join(struct.pack(f"<I{len(ids)}i", len(ids), *ids) for ids in lists)


def unpack_ids(data):
    return [list(struct.unpack(f"<{len(record) // 4}i", record)) for record in unpack(data, 4)]


class Lumen:
    """The program under test, in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments):
        subprocess.run([self.program, *map(str, arguments)], check=True)

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def encode(self, tokenizer, strings, *options):
        out = self.folder / "ids"
        self.run("encode", tokenizer, self.file("strings", pack_strings(strings)), out, *options)
        return unpack_ids(out.read_bytes())

    def decode(self, tokenizer, lists, *options):
        out = self.folder / "texts"
        self.run("decode", tokenizer, self.file("lists", pack_ids(lists)), out, *options)
        return unpack(out.read_bytes(), 1)


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def compare(self, name, what, inputs, wanted, got):
        bad = [k for k in range(len(inputs)) if wanted[k] != got[k]] if len(wanted) == len(got) else range(len(inputs))
        self.passed += len(inputs) - len(bad)
        self.failed += len(bad)
        print(f"{name:16} {what:16} {len(inputs):6} compared, {len(bad)} differ", flush=True)
        for k in list(bad)[:3]:
            print(f"  given  {inputs[k]!r:.200}\n  wanted {wanted[k]!r:.200}\n  got    {got[k]!r:.200}", flush=True)


def random_ids(rng, size, count):
    return [[rng.randrange(size) for _ in range(rng.randint(0, 12))] for _ in range(count)]


def compare_hugging_face(lumen, count, name, tokenizer, strings):
    path = lumen.file(f"{name}.json", tokenizer.to_str())
    raw = [text.encode() for text in strings]
    wanted = [encoding.ids for encoding in tokenizer.encode_batch(strings)]
    count.compare(name, "encode", strings, wanted, lumen.encode(path, raw))
    lists = wanted + random_ids(random.Random(3), tokenizer.get_vocab_size(), 4000)
    for skip, options in ((True, ()), (False, ("--special",))):
        texts = [text.encode() for text in tokenizer.decode_batch(lists, skip_special_tokens=skip)]
        count.compare(name, "decode" + "".join(options), lists, texts, lumen.decode(path, lists, *options))


def compare_sentencepiece(lumen, count, name, model, strings):
    path = lumen.file(f"{name}.model", model)
    peer = sentencepiece.SentencePieceProcessor(model_proto=model)
    wanted = [peer.encode(text) for text in strings]
    count.compare("sp-" + name, "encode", strings, wanted, lumen.encode(path, strings, "--plain"))
    special = {k for k in range(peer.get_piece_size()) if peer.is_control(k)}
    lists = wanted + random_ids(random.Random(3), peer.get_piece_size(), 4000)
    texts = [peer.decode(ids) for ids in lists]
    texts = [text if isinstance(text, bytes) else text.encode() for text in texts]
    assert special
    count.compare("sp-" + name, "decode", lists, texts, lumen.decode(path, lists))


def gguf_of_sentencepiece(model):
    peer = sentencepiece.SentencePieceProcessor(model_proto=model)
    size = range(peer.get_piece_size())

    def type_of(k):
        return 2 if peer.is_unknown(k) else 3 if peer.is_control(k) else 6 if peer.is_byte(k) else 1
    return {"model": "llama", "tokens": [peer.id_to_piece(k) for k in size], "types": [type_of(k) for k in size],
            "scores": [peer.get_score(k) for k in size], "bos": 1, "eos": 2, "unk": 0}


def gguf_of_byte_level(tokenizer, pre):
    parts = json.loads(tokenizer.to_str())
    tokens = {id: token for token, id in parts["model"]["vocab"].items()}
    types = {id: 1 for id in tokens}
    for added in parts["added_tokens"]:
        tokens[added["id"]] = added["content"]
        types[added["id"]] = 3 if added["special"] else 4
    return {"model": "gpt2", "pre": pre, "tokens": [tokens[k] for k in sorted(tokens)],
            "types": [types[k] for k in sorted(tokens)],
            "merges": [merge if isinstance(merge, str) else " ".join(merge) for merge in parts["model"]["merges"]]}


def without_added(tokenizer):
    return kinds.edited(tokenizer, lambda parts: parts.update(added_tokens=[], post_processor=None))


def compare_gguf(lumen, count, name, vocabulary, strings, wanted, decoded):
    path = lumen.file(f"{name}.gguf.json", json.dumps(vocabulary))
    count.compare(name, "encode", strings, wanted, lumen.encode(path, strings, "--plain"))
    count.compare(name, "decode", wanted, decoded, lumen.decode(path, wanted))


def compare_tiktoken(lumen, count, tokenizer, strings):
    """The same vocabulary in tiktoken: ranks are ids there, so only the cutting and merging is compared."""
    parts = json.loads(tokenizer.to_str())
    to_bytes = {character: byte for byte, character in enumerate(byte_alphabet())}
    ranks = {bytes(to_bytes[c] for c in token): id for token, id in parts["model"]["vocab"].items()}
    peer = tiktoken.Encoding("o200k-like", pat_str=kinds.O200K, mergeable_ranks=ranks, special_tokens={})
    plain = without_added(tokenizer)
    path = lumen.file("tiktoken.json", plain.to_str())
    wanted = [peer.encode_ordinary(text) for text in strings]
    count.compare("tiktoken", "encode", strings, wanted, lumen.encode(path, [text.encode() for text in strings]))
    count.compare("tiktoken", "decode", wanted, [peer.decode(ids).encode() for ids in wanted], lumen.decode(path, wanted))


def byte_alphabet():
    """GPT-2's characters for the bytes, in the order of the bytes."""
    own = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    rest = [b for b in range(256) if b not in own]
    characters = {b: chr(b) for b in own} | {b: chr(256 + k) for k, b in enumerate(rest)}
    assert sorted(characters.values()) == sorted(pre_tokenizers.ByteLevel.alphabet())
    return [characters[b] for b in range(256)]


def run_tokenizers(lumen, count, options):
    corpus = oracle_strings.training_corpus(1_200_000)
    special = kinds.SPECIAL + ["wørd", "<r>", "<s>", "<unk>", "[SEP]"]
    maker = oracle_strings.StringMaker(1, corpus, special)
    strings = maker.strings(options.strings)
    old_strings = oracle_strings.StringMaker(2, corpus, special, old=True).strings(options.strings)

    def wanted(name):
        return not options.only or options.only in name

    hugging_face = [kinds.byte_level_kinds, kinds.fallback_kinds, kinds.word_piece_kinds, kinds.other_kinds]
    for make in hugging_face:
        for name, tokenizer in make(corpus):
            if wanted(name):
                by_class = make in (kinds.word_piece_kinds, kinds.other_kinds)
                compare_hugging_face(lumen, count, name, tokenizer, old_strings if by_class else strings)
            if name == "o200k" and wanted("tiktoken"):
                short = [text for text in strings if len(text) < 3000]
                compare_tiktoken(lumen, count, tokenizer, short)
            if name in ("llama3", "qwen2") and wanted("gguf-" + name):
                pre = {"llama3": "llama-bpe", "qwen2": "qwen2"}[name]
                plain = without_added(tokenizer)
                plain.normalizer = kinds.normalizers.Sequence([])
                ids = [encoding.ids for encoding in plain.encode_batch(strings)]
                compare_gguf(lumen, count, "gguf-" + name,
                             gguf_of_byte_level(without_added(tokenizer), pre), [text.encode() for text in strings], ids,
                             [text.encode() for text in plain.decode_batch(ids)])
    for name, tokenizer in kinds.minilm():
        if wanted(name):
            compare_hugging_face(lumen, count, name, tokenizer, old_strings)
    # The long word's scores sum to some millions: SentencePiece starts anew at each 100,000, and floats are coarse there.
    raw = [text.encode() for text in [*strings, maker.long_word(300000)]] + maker.byte_strings(options.strings // 4)
    charsmap = None
    for name, model in kinds.sentencepiece_kinds(corpus):
        if wanted("sp-" + name):
            compare_sentencepiece(lumen, count, name, model, raw)
        if name == "llama" and wanted("gguf-llama"):
            peer = sentencepiece.SentencePieceProcessor(model_proto=model)
            valid = [text.encode() for text in strings if text]
            ids = [peer.encode(text) for text in valid]
            texts = [peer.decode(one) for one in ids]
            compare_gguf(lumen, count, "gguf-llama", gguf_of_sentencepiece(model), valid, ids,
                         [text if isinstance(text, bytes) else text.encode() for text in texts])
        charsmap = kinds.charsmap_of(model) if name == "unigram" else charsmap
    for name, tokenizer in kinds.unigram_kinds(corpus, charsmap):
        if wanted(name):
            compare_hugging_face(lumen, count, name, tokenizer, old_strings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="", help="kinds whose name has this; `templates` for those alone")
    parser.add_argument("--strings", type=int, default=20_000)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files, which are else deleted")
    options = parser.parse_args()
    count = Count()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        lumen = Lumen(options.program, folder)
        if not options.only or options.only == "templates":
            oracle_templates.compare(lumen, count)
        if options.only != "templates":
            run_tokenizers(lumen, count, options)
    print(f"text: {count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
