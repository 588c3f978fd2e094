"""Tiny configurations of every architecture that models/ builds, as transformers' own configuration classes."""

SIZES = dict(
    vocab_size=97,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=128,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)


def rope(kind, **fields):
    return {"rope_type": kind, "rope_theta": 10000.0, **fields}


LLAMA3 = rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
YARN = rope("yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=False, original_max_position_embeddings=16)


def longrope(pairs):
    return rope(
        "longrope",
        short_factor=[1.0 + 0.1 * k for k in range(pairs)],
        long_factor=[2.0 + 0.5 * k for k in range(pairs)],
        original_max_position_embeddings=20,
    )


# name: (configuration class, fields beyond SIZES, what holds of it).
#   moved: the rotation depends on the longest text, so that texts of a batch are not what they are alone
#   mixture: experts are chosen, and close choices may go either way in bf16
CASES = {
    "llama2": ("LlamaConfig", {"num_key_value_heads": 4}, ()),
    "llama3": ("LlamaConfig", {"rope_parameters": LLAMA3, "tie_word_embeddings": True}, ()),
    "llama_biases": ("LlamaConfig", {"attention_bias": True, "mlp_bias": True, "head_dim": 8}, ()),
    "llama_linear": ("LlamaConfig", {"rope_parameters": rope("linear", factor=4.0)}, ()),
    "llama_dynamic": (
        "LlamaConfig",
        {"rope_parameters": rope("dynamic", factor=2.0), "max_position_embeddings": 20},
        ("moved",),
    ),
    "llama_yarn": ("LlamaConfig", {"rope_parameters": {**YARN, "truncate": True}}, ()),
    "mistral": ("MistralConfig", {"sliding_window": 6}, ()),
    "mistral_full": ("MistralConfig", {"sliding_window": None, "head_dim": 32}, ()),
    "qwen2": ("Qwen2Config", {}, ()),
    "qwen2_window": (
        "Qwen2Config",
        {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1, "tie_word_embeddings": True},
        (),
    ),
    "qwen3": ("Qwen3Config", {"head_dim": 32, "attention_bias": False}, ()),
    "phi3": ("Phi3Config", {"rope_parameters": rope("default", partial_rotary_factor=0.5)}, ()),
    "phi3_longrope": ("Phi3Config", {"rope_parameters": longrope(8), "sliding_window": 11}, ("moved",)),
    "gemma2": (
        "Gemma2Config",
        {"head_dim": 32, "query_pre_attn_scalar": 24, "sliding_window": 6, "attn_logit_softcapping": 5.0},
        (),
    ),
    "gemma3": (
        "Gemma3TextConfig",
        {
            "head_dim": 32,
            "query_pre_attn_scalar": 24,
            "sliding_window": 6,
            "num_hidden_layers": 3,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "sliding_attention": rope("default"),
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
            },
        },
        (),
    ),
    "gemma4": (
        "Gemma4TextConfig",
        {"head_dim": 16, "global_head_dim": 32, "sliding_window": 6, "hidden_size_per_layer_input": 0},
        (),
    ),
    "gemma4_moe": (
        "Gemma4TextConfig",
        {
            "head_dim": 16,
            "global_head_dim": 32,
            "num_global_key_value_heads": 1,
            "attention_k_eq_v": True,
            "sliding_window": 6,
            "hidden_size_per_layer_input": 0,
            "enable_moe_block": True,
            "num_experts": 6,
            "top_k_experts": 2,
            "moe_intermediate_size": 32,
            "final_logit_softcapping": 30.0,
        },
        ("mixture",),
    ),
    "gpt2": (
        "GPT2Config",
        {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128, "vocab_size": 97},
        (),
    ),
    "mixtral": ("MixtralConfig", {"num_local_experts": 5, "num_experts_per_tok": 2}, ("mixture",)),
    "qwen3_moe": (
        "Qwen3MoeConfig",
        {
            "head_dim": 32,
            "num_experts": 6,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 32,
            "norm_topk_prob": True,
            "mlp_only_layers": [1],
            "num_hidden_layers": 3,
        },
        ("mixture",),
    ),
    "qwen3_moe_plain": (
        "Qwen3MoeConfig",
        {"head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
        ("mixture",),
    ),
    "gpt_oss": (
        "GptOssConfig",
        {
            "head_dim": 32,
            "num_local_experts": 5,
            "num_experts_per_tok": 2,
            "sliding_window": 6,
            "rope_parameters": YARN,
            "attention_bias": True,
        },
        ("mixture",),
    ),
}
# The experts of these are stored as MXFP4.
QUANTISED = {"gpt_oss_mxfp4"}
CASES["gpt_oss_mxfp4"] = CASES["gpt_oss"]
# These configurations know none of SIZES.
OWN_SIZES = {"gpt2"}
