"""A case in onnxruntime: exported from PyTorch, or made by hand where PyTorch has no export."""
import io
import logging
import warnings

import numpy
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from lumen_child import Failure

logging.getLogger("torch.onnx").setLevel(logging.ERROR)
TYPES = {torch.float32: TensorProto.FLOAT, torch.float16: TensorProto.FLOAT16, torch.bfloat16: TensorProto.BFLOAT16,
         torch.int8: TensorProto.INT8, torch.int32: TensorProto.INT32, torch.int64: TensorProto.INT64}


def integer_product(case, tensors):
    """MatMulInteger; a weight is stored transposed, as onnxruntime wants it."""
    x = tensors["x"]
    weight = tensors.get("weight")
    inputs = [helper.make_tensor_value_info("x", TensorProto.INT8, list(x.shape))]
    held = []
    if weight is not None:
        held = [numpy_helper.from_array(numpy.ascontiguousarray(weight.t().numpy()), "y")]
    else:
        inputs.append(helper.make_tensor_value_info("y", TensorProto.INT8, list(tensors["y"].shape)))
    output = helper.make_tensor_value_info("out", TensorProto.INT32, case["outputs"][0]["dims"])
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["x", "y"], ["out"])], "g", inputs, [output], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 10
    return model.SerializeToString()


def export(pattern):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(pattern, tuple(pattern.data), file, dynamo=True, verbose=False)
    return file.getvalue()


def to_value(tensor):
    if tensor.dtype == torch.bfloat16:
        bits = tensor.view(torch.uint16).numpy()
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy(), "cpu", 0)


def make_onnx(case, tensors, pattern, threads):
    """A function that runs the case once."""
    try:
        integers = case["dtype"] == "i8"
        model = integer_product(case, tensors) if integers else export(pattern)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for argument, tensor in zip(session.get_inputs(), pattern.data):
            binding.bind_ortvalue_input(argument.name, to_value(tensor))
        for argument in session.get_outputs():
            binding.bind_output(argument.name)
        session.run_with_iobinding(binding)
    except Exception as problem:  # whatever the exporter or the runtime cannot do; it is named in the results
        raise Failure(f"{type(problem).__name__}: {str(problem).splitlines()[0][:160]}") from None
    return lambda: session.run_with_iobinding(binding)
