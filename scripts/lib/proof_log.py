"""The log of a proof that resumes: a JSON line for each thing measured."""
import json


def read_log(log):
    """The lines of the log (a path), without one that an interruption cut."""
    text = log.read_text() if log.exists() else ''
    if text and not text.endswith('\n'):
        text = text[:text.rfind('\n') + 1]
        log.write_text(text)
    return [json.loads(line) for line in text.splitlines()]
