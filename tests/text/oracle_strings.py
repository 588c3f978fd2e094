"""Texts for the tokenizer oracle: a corpus to train on, and strings of every kind to compare on."""

import pathlib
import random
import sysconfig
import unicodedata

SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
NEAR_SPACES = "\u180e\u200b\u200c\u200d\u2060\ufeff\u00ad"
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷", "❤️", "🧑🏿‍🚀", "1️⃣", "©️", "☃", "🤷🏼‍♂️"]
WORDS = {
    "latin": "über naïve café Straße Ångström œuvre señor İstanbul ıĳǆ ﬁn ﬂ ſtop don't we'll I'M they'VE he'd it's 'S '\u017f".split(),
    "greek": "Καλημέρα κόσμε Ὀδυσσεύς λόγος ΣΊΣΥΦΟΣ ς".split(),
    "cyrillic": "Привет мир ёлка объект Київ їжак".split(),
    "hebrew": "שלום עולם בְּרֵאשִׁית".split(),
    "arabic": "مرحبا بالعالم العَرَبِيَّة ٠١٢٣ ۴۵۶".split(),
    "devanagari": "नमस्ते दुनिया क्षत्रिय ज्ञान १२३".split(),
    "thai": "สวัสดีชาวโลก ก็ น้ำ ๑๒๓".split(),
    "chinese": "你好 世界 机器学习 漢字 龍 㐀 𠀀 ，。「」".split(),
    "japanese": "こんにちは カタカナ ｶﾀｶﾅ が ガ 日本語 ー々".split(),
    "korean": "안녕하세요 세계 한국어 각".split(),
    "other": "Ⅷ ⅳ ½ ② ㊙ ™ № ﷺ ᾳ Ǆ ǅ 𝔘𝔫𝔦 𝟘𝟙 Ⓐⓑ 🄰 e\u0301 a\u030a\u0323 o\u0302\u0301 ೧ ༠ ௧ ᠠ ꦏ 𐍈 Ω".split(),
}
CODE = [
    "def f(x):\n    return x**2  # square\n",
    "for (int i = 0; i < n; ++i) { a[i] += b[i]; }\n",
    "\tif (x != y) {\r\n\t\tfoo(&x, *y);\r\n\t}\r\n",
    "SELECT * FROM t WHERE a >= 10 AND b LIKE '%x%';",
    "https://example.com/a/b?c=1&d=%20#frag",
    "<div class=\"x\">&amp;</div>\n\n\n",
    "x = {'a': [1, 2.5e-10, 0xFF], \"b\": None}",
    "std::vector<std::pair<int, std::string>> v;",
    "// ===== ---- ____ **** !!!! ????\n",
    "CamelCaseIdentifier snake_case_name SCREAMING_CASE kebab-case x1y2z3",
    "$\\alpha + \\beta = \\frac{1}{2}$",
    "12345678901234567890 3.14159 1,000,000 007 1e9 ١٢٣٤",
]


def training_corpus(size):
    """English and code from Python's own library, and the words above many times over."""
    rng = random.Random(7)
    parts, total = [], 0
    for path in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        text = path.read_text(errors="replace")
        parts.append(text)
        total += len(text)
        if total > size:
            break
    words = [word for group in WORDS.values() for word in group] + EMOJI
    for _ in range(4000):
        parts.append(" ".join(rng.choice(words) for _ in range(12)))
    return [line for part in parts for line in part.splitlines(keepends=True)]


def assigned_characters(old):
    """Those of Unicode, or those that have been the same since Unicode 3.2: peers have tables of different ages."""
    skipped = ("Cn", "Cs", "Co")
    first = unicodedata.ucd_3_2_0
    return [c for c in map(chr, range(1, 0x110000)) if unicodedata.category(c) not in skipped and
            (not old or first.category(c) == unicodedata.category(c))]


class StringMaker:
    """Makes strings; `special` are the texts of special tokens to mix in."""

    def __init__(self, seed, corpus, special=(), old=False):
        self.rng = random.Random(seed)
        self.corpus = corpus
        self.special = list(special)
        self.characters = assigned_characters(old)
        self.words = [word for group in WORDS.values() for word in group]

    def part(self):
        rng = self.rng
        kind = rng.randrange(14)
        if kind == 0:
            return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 5)))
        if kind == 1:
            return rng.choice(EMOJI) * rng.randint(1, 3)
        if kind == 2:
            return "".join(rng.choice(self.characters) for _ in range(rng.randint(1, 6)))
        if kind == 3:
            return rng.choice(CODE)
        if kind == 4:
            return str(rng.randrange(10 ** rng.randint(1, 12)))
        if kind == 5:
            return "".join(rng.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(rng.randint(1, 8)))
        if kind == 6:
            return " " * rng.randint(1, 20)
        if kind == 7:
            return "\n" * rng.randint(1, 4) + rng.choice(["", " ", "  ", "\t", "\r\n"])
        if kind == 8 and self.special:
            return rng.choice(["", " ", "  "]) + rng.choice(self.special) + rng.choice(["", " ", "\n", "x", "é"])
        if kind == 9:
            return rng.choice(NEAR_SPACES) + rng.choice(self.words)
        if kind == 10:
            return rng.choice(self.corpus)
        word = rng.choice(self.words)
        if kind == 11:
            word = rng.choice([word.upper(), word.lower(), word.title(), unicodedata.normalize("NFD", word)])
        return rng.choice(["", " ", "  ", "_", "▁"]) + word

    def string(self):
        return "".join(self.part() for _ in range(self.rng.randint(1, 7)))

    def strings(self, count):
        edges = ["", " ", "  ", "\n", "\x00", "a", "\u0301", "🏽", "\u200d", "\ufeff", "\ufffd", "▁", "▁▁ ▁", " ▁a"]
        edges += self.special + [f"a{token}b" for token in self.special]
        long = ["a" * 5000, "ab" * 3000, "0" * 3000, "你" * 2000, "é" * 2000, " " * 3000, "\n" * 1500, "aé你😀" * 700]
        long += ["".join(self.rng.choice("abcdefgh") for _ in range(20000)), "\u0301" * 800, "😀" * 800, "=" * 4000]
        result = edges + long
        while len(result) < count:
            result.append(self.string())
        return result

    def long_word(self, size):
        return "".join(self.rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(size))

    def byte_strings(self, count):
        """Some of them are not UTF-8."""
        result = [b"\xff", b"\xc3", b"a\xe4\xbd", b"\xe4\xbd\xa0\xff", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf"]
        while len(result) < count:
            text = bytearray(self.string().encode()[:200])
            for _ in range(self.rng.randint(1, 3)):
                at = self.rng.randrange(len(text) + 1)
                if self.rng.random() < 0.5:
                    text[at:at] = bytes([self.rng.randrange(1, 256)])
                else:
                    del text[at : at + 1]
            result.append(bytes(text))
        return result
