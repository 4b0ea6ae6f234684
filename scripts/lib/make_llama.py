#!/usr/bin/env python3
"""Writes a small llama with seeded random weights as GGUF (version 3): the same bytes each time, 3.4 million parameters.

  make_llama.py [--wide] FILE

--wide: 52 million parameters, more than a processor's cache holds, so that a batch of requests shares the reads of the weights.
Its answers are noise; what it takes to compute them is not. Layout: docs/gguf.md of the project ggml"""
import random
import struct
import sys

KV_SHARE, LAYERS, HEAD, CONTEXT = 2, 4, 32, 4096  # heads that share keys and values, layers, values of a head, tokens
ALIGNMENT = 32
BLOCK = 65521  # random numbers of a tensor, repeated; a prime, so that no two rows are equal
UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5
F32, F16 = 0, 1
UNKNOWN, CONTROL, BYTE, NORMAL = 2, 3, 6, 1


def string(text):
    data = text.encode()
    return struct.pack('<Q', len(data)) + data


def value(kind, what):
    if kind == STRING:
        return string(what)
    return struct.pack({UINT32: '<I', FLOAT32: '<f', BOOL: '<?', INT32: '<i'}[kind], what)


def member(key, kind, what):
    return string(key) + struct.pack('<I', kind) + value(kind, what)


def members(key, kind, values):
    return string(key) + struct.pack('<IIQ', ARRAY, kind, len(values)) + b''.join(value(kind, one) for one in values)


def vocabulary():
    """Three control tokens, the 256 bytes, and pieces of a few words with every prefix of theirs (a piece is merged from its parts)."""
    words = 'the of and to in a is that for it as was with be by on not he his but at are this have from or had which one you were all'.split()
    pieces = ['\u2581'] + [chr(code) for code in range(33, 127)] + words + ['\u2581' + word for word in words]
    tokens, kinds, scores = ['<unk>', '<s>', '</s>'], [UNKNOWN, CONTROL, CONTROL], [0.0, 0.0, 0.0]
    for code in range(256):
        tokens.append(f'<0x{code:02X}>'), kinds.append(BYTE), scores.append(0.0)
    prefixes = dict.fromkeys(piece[:length] for piece in pieces for length in range(1, len(piece) + 1))
    for index, piece in enumerate(prefixes):
        tokens.append(piece), kinds.append(NORMAL), scores.append(float(-index - 1 if len(piece) == 1 else -1000 + 10 * len(piece)))
    return tokens, kinds, scores


def tensors(width, vocabulary_size):
    """Name, shape (rows, columns; a norm has one row) of each tensor."""
    kv_width, feed_forward = width // KV_SHARE, 3 * width
    yield 'token_embd.weight', (vocabulary_size, width)
    for layer in range(LAYERS):
        prefix = f'blk.{layer}.'
        yield prefix + 'attn_norm.weight', (width,)
        yield prefix + 'ffn_norm.weight', (width,)
        yield prefix + 'attn_q.weight', (width, width)
        yield prefix + 'attn_k.weight', (kv_width, width)
        yield prefix + 'attn_v.weight', (kv_width, width)
        yield prefix + 'attn_output.weight', (width, width)
        yield prefix + 'ffn_gate.weight', (feed_forward, width)
        yield prefix + 'ffn_up.weight', (feed_forward, width)
        yield prefix + 'ffn_down.weight', (width, feed_forward)
    yield 'output_norm.weight', (width,)
    yield 'output.weight', (vocabulary_size, width)


def weights(shape, source):
    if len(shape) == 1:
        return struct.pack(f'<{shape[0]}f', *[1.0] * shape[0])
    count = shape[0] * shape[1]
    reach = (3.0 / shape[1]) ** 0.5  # uniform, with the variance 1 / columns
    block = struct.pack(f'<{BLOCK}e', *(reach * (2 * source.random() - 1) for _ in range(BLOCK)))
    return (block * (count // BLOCK + 1))[:2 * count]


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


def gguf(width):
    heads = width // HEAD
    tokens, kinds, scores = vocabulary()
    header = [
        member('general.architecture', STRING, 'llama'), member('general.name', STRING, 'random-llama'), member('general.file_type', UINT32, 1),
        member('llama.context_length', UINT32, CONTEXT), member('llama.embedding_length', UINT32, width), member('llama.block_count', UINT32, LAYERS),
        member('llama.feed_forward_length', UINT32, 3 * width), member('llama.attention.head_count', UINT32, heads),
        member('llama.attention.head_count_kv', UINT32, heads // KV_SHARE), member('llama.attention.layer_norm_rms_epsilon', FLOAT32, 1e-5),
        member('llama.rope.dimension_count', UINT32, HEAD), member('llama.rope.freq_base', FLOAT32, 10000.0),
        member('llama.vocab_size', UINT32, len(tokens)), member('tokenizer.ggml.model', STRING, 'llama'),
        member('tokenizer.ggml.pre', STRING, 'default'), members('tokenizer.ggml.tokens', STRING, tokens),
        members('tokenizer.ggml.scores', FLOAT32, scores), members('tokenizer.ggml.token_type', INT32, kinds),
        member('tokenizer.ggml.bos_token_id', UINT32, 1), member('tokenizer.ggml.eos_token_id', UINT32, 2),
        member('tokenizer.ggml.unknown_token_id', UINT32, 0), member('tokenizer.ggml.add_bos_token', BOOL, True),
        member('tokenizer.chat_template', STRING, "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"),
    ]
    source, infos, data = random.Random(7), [], b''
    for name, shape in tensors(width, len(tokens)):
        kind = F32 if len(shape) == 1 else F16
        infos.append(string(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *reversed(shape), kind, len(data)))
        data += padded(weights(shape, source))
    return padded(b'GGUF' + struct.pack('<IQQ', 3, len(infos), len(header)) + b''.join(header) + b''.join(infos)) + data


if __name__ == '__main__':
    arguments = [one for one in sys.argv[1:] if one != '--wide']
    if arguments in (['-h'], ['--help']):
        print(__doc__)
        sys.exit(0)
    if len(arguments) != 1 or arguments[0].startswith('-'):
        sys.exit(__doc__)
    with open(arguments[0], 'wb') as file:
        file.write(gguf(1024 if '--wide' in sys.argv else 256))
