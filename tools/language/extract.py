"""The strings a user can see, taken from sources and data: C++ literals, texts of the page, texts of the data files."""
import json
import pathlib
import re

TOPS = ('src', 'apps', 'python', 'web/src', 'data')
TESTS = ('_test.cc', '_fuzz.cc', '_bench.cc', '.test.ts', '.test.tsx')

CPP_TOKEN = re.compile(r'''
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
  | (?:u8|u|U|L)?R"(?P<fence>[^()\\\s]*)\((?P<raw>.*?)\)(?P=fence)"
  | (?:u8|u|U|L)?"(?P<plain>(?:[^"\\\n]|\\.)*)"
  | (?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+')
''', re.X | re.M | re.S)
PAGE_TOKEN = re.compile(r'''
    (?P<comment>(?<!:)//[^\n]*|/\*.*?\*/)
  | (?P<include>^(?:import|export)\b[^\n]*\bfrom\b[^\n]*|(?<![\w-])(?:className|class|d|key|role|id|style|transform)=(?:"[^"]*"|\{`[^`]*`\}))
  | `(?P<template>(?:[^`\\]|\\.)*)`
  | (?<![A-Za-z])'(?P<single>(?:[^'\\\n]|\\.)*)'
  | "(?P<plain>(?:[^"\\\n]|\\.)*)"
''', re.X | re.M | re.S)
TYPESCRIPT = re.compile(r'=>|&&|\|\||\[\]|[)\]]\s*:|\(\w*:|[()]\s*$|\b(?:interface|export|return|function|const)\b|^\W*\w+: \w+$')
JSX_TEXT = re.compile(r'(?<=[>}])([^<>{}=;]*[A-Za-z][^<>{}=;]*)(?=[<{])')
YAML_SCALAR = re.compile(r'"((?:[^"\\]|\\.)*)"|(?<=[ \[])\'([^\']*)\'|\b[a-z_0-9]+: +([^\[{"\'#&|> ][^,}#\n]*|[^\[{"\'#&|> ][^#\n]*$)')
ESCAPES = {'n': '\n', 't': '\t', '"': '"', "'": "'", '\\': '\\', 'r': '\r', '`': '`'}
# Statements for a database and bodies of other languages are not read by users.
CODE = re.compile(r'^\W*(?:SELECT|INSERT|CREATE|COPY|WITH \w+ AS|DELETE|UPDATE|DROP|PRAGMA|ATTACH|BEGIN|ALTER|ORDER BY|FROM|WHERE|JOIN|GROUP BY)\b')


def unescape(text):
    return re.sub(r'\\(.)', lambda m: ESCAPES.get(m.group(1), m.group(0)), text, flags=re.S)


def is_text(text):
    return bool(re.search(r'[A-Za-z]', text)) and ' ' in text.strip() and not CODE.match(text)


def joins(code):
    """What stands between two literals of one text: nothing (''), a value ('{}'), or None where they are two texts."""
    if not code.strip():
        return ''
    match = re.fullmatch(r'\s*(\+|<<)(.*)\1\s*', code, re.S)
    if not match:
        return None
    value, depth = match.group(2), 0
    for letter in value.replace('::', '').replace('->', ''):
        depth += letter in '([{'
        depth -= letter in ')]}'
        if depth < 0 or (depth == 0 and letter in ',;?:='):
            return None
    return '{}' if depth == 0 else None


def of_cpp(source):
    """(line, text) of every text in C++: adjacent literals and what + or << puts between them as one, a value as {}."""
    texts, open_text, code, end = [], None, '', 0
    for token in CPP_TOKEN.finditer(source):
        code += source[end:token.start()]
        end = token.end()
        if token['raw'] is None and token['plain'] is None:
            code += token.group(0) if token['char'] else ' '
            continue
        text = token['raw'] if token['raw'] is not None else unescape(token['plain'])
        between = joins(code) if open_text else None
        if between is None:
            if open_text:
                open_text[1] += '{}' if re.match(r'\s*(\+|<<)', code) else ''
            open_text = [source.count('\n', 0, token.start()) + 1, ('{}' if re.search(r'(\+|<<)\s*$', code) else '') + text]
            texts.append(open_text)
        else:
            open_text[1] += between + text
        code = ''
    return [(line, text) for line, text in texts if is_text(text)]


def of_page(source, tags=True):
    """(line, text) of literals, templates and texts between tags."""
    texts, blanked = [], source
    for token in PAGE_TOKEN.finditer(source):
        text = next((token[kind] for kind in ('template', 'single', 'plain') if token[kind] is not None), None)
        line = source.count('\n', 0, token.start()) + 1
        blanked = blanked[:token.start()] + re.sub(r'[^\n]', ' ', token.group(0)) + blanked[token.end():]
        if text is not None and is_text(text):
            texts.append((line, re.sub(r'\$\{[^{}]*\}', '{}', unescape(text))))
    for token in JSX_TEXT.finditer(blanked) if tags else ():
        text = ' '.join(token.group(1).split())
        if is_text(text) and not TYPESCRIPT.search(text):
            texts.append((blanked.count('\n', 0, token.start()) + 1, text))
    return sorted(texts)


def of_yaml(source):
    """(line, text) of every scalar with a space in it; comments are not texts."""
    texts = []
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith('#'):
            continue
        for match in YAML_SCALAR.finditer(line):
            texts += [(number, text.strip()) for text in match.groups() if text and is_text(text)]
    return texts


def of_json(source):
    def walk(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, dict)):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from walk(inner)
    return [(source.count('\n', 0, max(source.find(text), 0)) + 1, text) for text in walk(json.loads(source)) if is_text(text)]


READERS = {'.cc': of_cpp, '.h': of_cpp, '.tsx': of_page, '.ts': lambda source: of_page(source, tags=False), '.yaml': of_yaml, '.json': of_json}


def reader_of(path):
    if path.name.endswith(TESTS):
        return None
    return READERS.get(path.suffix)


def folders(root, only):
    return [root / name for name in only] if only else [root / top for top in TOPS]


def files_in(folder):
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.rglob('*') if path.is_file() and 'node_modules' not in path.parts)


def of_tree(root, only=()):
    """(path, line, text) of every text under src, apps, web/src and data, or under the folders named."""
    root = pathlib.Path(root)
    for folder in folders(root, only):
        for path in files_in(folder):
            if reader := reader_of(path):
                for line, text in reader(path.read_text(errors='replace')):
                    yield path.relative_to(root), line, text
