"""The program's help, command by command: what the reference and the manual pages are made of."""
import os
import re
import subprocess


def help_of(program, *words):
    """The help as printed, at a fixed width and independent of the user's settings."""
    environment = {'PATH': os.environ.get('PATH', ''), 'HOME': '/', 'NO_COLOR': '1', 'COLUMNS': '100'}
    ran = subprocess.run([program, *words, '--help'], capture_output=True, text=True, check=True, env=environment)
    return '\n'.join(line.rstrip() for line in ran.stdout.strip('\n').splitlines())


def commands_of(help_text):
    """Names below 'Subcommands:', each with its own line."""
    names, inside = [], False
    for line in help_text.splitlines():
        if line and not line.startswith(' '):
            inside = line.startswith('Subcommands')
        elif inside and (match := re.match(r' {1,4}([a-z][a-z0-9-]*)\b', line)):
            names.append(match[1])
    return names


def sections(program, words=()):
    """(words, help) of a command and all below it."""
    text = help_of(program, *words)
    yield words, text
    for name in commands_of(text):
        yield from sections(program, (*words, name))
