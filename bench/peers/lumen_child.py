"""Lumen as a child process that times a case when it is asked to (`lumen bench serve`)."""
import json
import os
import subprocess
import tempfile

import torch

from torch_cases import DTYPES


class Failure(Exception):
    """What a peer or Lumen said when it could not do a case."""


def to_bytes(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


class Lumen:
    def __init__(self, program, threads):
        environment = dict(os.environ, LUMEN_THREADS=str(threads))
        self.process = subprocess.Popen([program, "bench", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"lumen ended with status {self.process.wait()} at {request}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def load(self, case, tensors):
        """Compiles the case for these inputs; gives a function that times it, and its outputs."""
        with tempfile.TemporaryDirectory() as folder:
            for name, tensor in tensors.items():
                with open(f"{folder}/{name}.bin", "wb") as file:
                    file.write(to_bytes(tensor))
            compiled = self.ask(do="load", case=case["name"], folder=folder)
            self.ask(do="store", case=case["name"], folder=folder)
            outputs = [read_tensor(f"{folder}/{o['name']}.out", o) for o in case["outputs"]]
        timed = lambda runs: self.ask(do="time", case=case["name"], runs=runs)["seconds"]
        return timed, outputs, compiled

    def drop(self, case):
        try:
            self.ask(do="drop", case=case["name"])
        except Failure:
            pass  # it was never loaded

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_tensor(path, about):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    return torch.frombuffer(data, dtype=DTYPES[about["dtype"]]).view(about["dims"])
