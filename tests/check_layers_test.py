#!/usr/bin/env python3
"""check_layers.py on small trees made here: what it must report, word for word, and what it must let pass."""
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "# a comment\nbase:\nir: base\nhlir: ir\nimport: hlir\nruntime: hlir\n"


class CheckLayers(unittest.TestCase):
    def problems(self, files, layers=LAYERS):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"lumen/layers.txt": layers, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return [line.removeprefix(f"{root}/") for line in check_layers.check_tree(root)]

    def test_upward_include(self):
        self.assertEqual(
            self.problems({"lumen/ir/a.cpp": '\n#include "lumen/hlir/b.h"\n'}),
            ["lumen/ir/a.cpp:2: lumen/ir includes lumen/hlir/b.h; it may include base"],
        )

    def test_sideways_include_from_sub_folder(self):
        self.assertEqual(
            self.problems({"lumen/runtime/file/a.h": '#  include "lumen/import/b.h"\n'}),
            ["lumen/runtime/file/a.h:1: lumen/runtime includes lumen/import/b.h; it may include base, hlir, ir"],
        )

    def test_bottom_folder(self):
        self.assertEqual(
            self.problems({"lumen/base/a.h": '#include "lumen/ir/b.h"\n'}),
            ["lumen/base/a.h:1: lumen/base includes lumen/ir/b.h; it may include no other folder"],
        )

    def test_umbrella_from_inside(self):
        self.assertEqual(
            self.problems({"lumen/ir/a.h": "#include <lumen/lumen.h>\n"}),
            ["lumen/ir/a.h:1: lumen/ir includes lumen/lumen.h, which stands above every folder"],
        )

    def test_relative_include(self):
        self.assertEqual(
            self.problems({"lumen/ir/a.h": '#include "b.h"\n', "lumen/ir/b.h": ""}),
            ['lumen/ir/a.h:1: write the full path: "lumen/ir/..." instead of "b.h"'],
        )

    def test_heavy_headers(self):
        text = "#include <fmt/format.h>\n#include <nlohmann/json.hpp>\n#include <nlohmann/json_fwd.hpp>\n"
        self.assertEqual(
            self.problems({"lumen/ir/a.h": text, "lumen/ir/a.cpp": text, "lumen/lumen.h": text}),
            [
                f"{name}:{line}: a header includes <{target}>; include it in the .cpp (compile time)"
                for name in ("lumen/ir/a.h", "lumen/lumen.h")
                for line, target in ((1, "fmt/format.h"), (2, "nlohmann/json.hpp"))
            ],
        )

    def test_unknown_folder(self):
        self.assertEqual(
            self.problems({"lumen/new/a.h": ""}), ["lumen/new/a.h:1: folder lumen/new has no line in lumen/layers.txt"]
        )

    def test_bad_tables(self):
        for layers, text in (
            ("ir: base\n", "lumen/layers.txt:1: `ir` depends on `base`, which no line above it declares"),
            ("ir\n", "lumen/layers.txt:1: expected `name: deps`, got `ir`"),
            ("ir:\nir:\n", "lumen/layers.txt:2: `ir` is declared twice"),
        ):
            self.assertEqual(self.problems({}, layers), [text])

    def test_upper_folders(self):
        files = {
            "lumen/ir/a.cpp": '#include "nn/b.h"\n',
            "nn/b.h": '#include "models/c.h"\n#include <fmt/format.h>\n',
        }
        self.assertEqual(
            self.problems(files),
            [
                "lumen/ir/a.cpp:1: lumen/ includes nn/b.h, which stands above it",
                "nn/b.h:1: nn/ includes models/c.h, which stands above it",
                "nn/b.h:2: a header includes <fmt/format.h>; include it in the .cpp (compile time)",
            ],
        )

    def test_allowed(self):
        files = {
            "models/c.cpp": '#include "nn/b.h"\n#include "lumen/lumen.h"\n#include "models/c.h"\n',
            "lumen/hlir/a.cpp": '#include "lumen/base/x.h"\n#include "lumen/hlir/y.h"\n#include <fmt/format.h>\n',
            "lumen/compile.cpp": '#include "lumen/runtime/x.h"\n',
            "lumen/base/a.h": '// #include "lumen/ir/b.h"\n#include <vector>\n',
            "tools/main.cpp": '#include "lumen/runtime/x.h"\n',
        }
        self.assertEqual(self.problems(files), [])


if __name__ == "__main__":
    unittest.main()
