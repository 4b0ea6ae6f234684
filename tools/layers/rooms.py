"""Rooms: what the folders of a stage may include of each other, and that their DEPENDS say exactly that."""
import collections
import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
MAX_LOOP = 3          # header-with-source pairs that may include each other in a circle
MAX_FLAT_SOURCES = 10  # sources directly in a stage that has rooms
TEST_ENDINGS = ('_test.cc', '_fuzz.cc', '_testing.h')


def loops(graph):
    """The strongly connected components of more than one member (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while True:
                members.append(stack.pop())
                on_stack.discard(members[-1])
                if members[-1] == node:
                    break
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


class Owners:
    """Which module a header of ours belongs to."""

    def __init__(self, source, modules, named):
        self.source = source  # the folder src/
        self.folders = {pathlib.PurePosixPath(where.parent.relative_to('src')): name for name, (_, _, where) in modules.items()}
        self.named = named    # 'stage/header.h' -> module
        self.by_stem = collections.defaultdict(set)
        self.by_first = collections.defaultdict(collections.Counter)  # header -> modules whose sources include it first
        for path in source.rglob('*.cc'):
            relative = path.relative_to(source)
            if path.name.endswith(TEST_ENDINGS):
                continue
            module = self.module_of(relative)
            self.by_stem[relative.parts[0], path.stem].add(module)
            first = INCLUDE.search(path.read_text(errors='replace'))
            if first and module and first.group(1).split('/')[0] == relative.parts[0]:
                self.by_first[first.group(1)][module] += 1

    def module_of(self, relative):
        """The innermost module whose folder holds the file."""
        for folder in relative.parents:
            name = self.folders.get(pathlib.PurePosixPath(folder))
            if name:
                return name
        return None

    def owner(self, header):
        relative = pathlib.PurePosixPath(header)
        if not (self.source / relative).exists():
            return None  # generated
        if len(relative.parts) != 2:
            return self.module_of(relative)
        if header in self.named:
            return self.named[header]
        stage, stem = relative.parts[0], relative.stem
        holders = self.by_stem.get((stage, stem), set()) - {None}
        if len(holders) == 1:
            return next(iter(holders))
        of_its_name = self.folders.get(pathlib.PurePosixPath(stage, stem))
        first = self.by_first.get(header)
        return of_its_name or (first.most_common(1)[0][0] if first else None) or self.folders.get(pathlib.PurePosixPath(stage))


class RoomCheck:
    """Holds the rooms of one stage against their declarations; `complain(where, what)` takes what is wrong."""

    def __init__(self, root, stage, named_headers, modules, complain):
        self.source, self.stage, self.modules, self.complain = root / 'src', stage, modules, complain
        named = {}
        for header, room in (word.split('=') for word in named_headers):
            named[header if '/' in header else f'{stage}/{header}'] = room if '/' in header else f'{stage}_{room}'
        self.owners = Owners(self.source, modules, named)
        self.uses = collections.defaultdict(lambda: collections.defaultdict(str))  # room -> module -> an include that needs it
        self.pairs = collections.defaultdict(set)
        self.tests = []

    def room_of(self, relative):
        if len(relative.parts) == 2 and relative.suffix == '.h':
            return self.owners.owner(str(relative))
        return self.owners.module_of(relative)

    def read(self):
        stems = collections.defaultdict(list)
        flat = []
        for path in sorted((self.source / self.stage).rglob('*')):
            if path.suffix not in ('.h', '.cc'):
                continue
            relative = pathlib.PurePosixPath(path.relative_to(self.source))
            room = self.room_of(relative)
            if path.suffix == '.h' and len(relative.parts) == 2 and room in (None, self.stage):
                self.complain(f'src/{relative}', 'no room has a source of this name: name its room in tools/layers/rooms.txt')
            if path.suffix == '.cc':
                stems[path.stem].append(str(relative))
                if len(relative.parts) == 2:
                    flat.append(str(relative))
            self.read_includes(path, relative, room)
        for places in stems.values():
            if len(places) > 1:
                self.complain(f'src/{places[0]}', f'has the same name as src/{places[1]}')
        if len(flat) > MAX_FLAT_SOURCES:
            self.complain(f'src/{self.stage}', f'{len(flat)} sources are in no room, at most {MAX_FLAT_SOURCES} may be')

    def read_includes(self, path, relative, room):
        for header in INCLUDE.findall(path.read_text(errors='replace')):
            owner = self.owners.owner(header)
            if owner is None or room is None:
                continue
            if path.name.endswith(TEST_ENDINGS):
                self.tests.append((relative, room, header, owner))
                continue
            if owner != room:
                self.uses[room][owner] = f'{relative} includes {header}'
            if header.startswith(self.stage + '/'):
                other = pathlib.PurePosixPath(header).stem
                if other != relative.stem:
                    self.pairs[relative.stem].add(other)

    def reached(self, room):
        seen, todo = set(), [room]
        while todo:
            for other in self.modules.get(todo.pop(), (None, [], None))[1]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    def check(self):
        self.read()
        for room, (stage, depends, where) in self.modules.items():
            if stage != self.stage or room == self.stage:
                continue
            for other in sorted(set(self.uses[room]) - set(depends)):
                self.complain(where, f'DEPENDS lacks {other}: {self.uses[room][other]}')
            for other in sorted(set(depends) - set(self.uses[room])):
                self.complain(where, f'DEPENDS names {other}, which {room} does not include')
        for relative, room, header, owner in self.tests:
            if owner != room and owner.startswith(self.stage + '_') and owner not in self.reached(room):
                self.complain(f'src/{relative}', f'includes {header} of {owner}, which {room} does not reach: move the test up')
        for members in loops(self.pairs):
            if len(members) > MAX_LOOP:
                self.complain(f'src/{self.stage}', f'{len(members)} headers with their sources include each other: ' + ', '.join(members))
