"""Which columns of a table are which input of a metric."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from toxeval.core.declarations import SCORE, Definition, Input
from toxeval.core.refusals import Known, SayColumns, refuse

from .tables import Table, shown

#: The name of the rows' ids in what users say of columns, and the names under which they are looked for.
ID, ID_COLUMNS = "id", ("id", "post_id")
#: What users call the references' ids where these have another column than the predictions'.
REFERENCE_ID = f"references.{ID}"
#: What stands before a field's name in the columns that hold the fields of an input's records.
FIELD_PREFIXES = {
    "predictions": ("predictions.", "predictions_", "prediction_", "pred_"),
    "references": ("references.", "references_", "reference_", "ref_"),
}
#: An input's column, or, for records in several columns, the column of each field.
Place = str | dict[str, str]


def find_inputs(definition: Definition, tables: Sequence[Table], said: Mapping[str, str]) -> list[dict[str, Place]]:
    """For each table, which inputs are in which of its columns.

    Args:
        tables: the predictions' table, and perhaps the references'.
        said: input, field of one (``predictions.slots``) or ``id`` -> column (or a dotted path in one), as the user
            says; else the names that the inputs declare are tried. ``id`` without a column says that there are no ids,
            an optional input without one that it is left out.

    Returns:
        A dict a table, input -> column; with ``id`` where all tables have one.

    Raises:
        Refusal: if a column or an input that is said doesn't exist, there are no predictions, or an input may be in
            several columns. What else is missing the metric itself says.
    """
    with Known(metric=definition.name):
        _check_said(definition, tables, said)
        found: list[dict[str, Place]] = [{} for _ in tables]
        # those first of which the user says where they are: what is left is for the others
        wanted = [each for each in definition.inputs if said.get(each.name) != ""]
        for each in sorted(wanted, key=lambda each: not _said_of(each.name, said)):
            looked_in = tables_of(each, len(tables))
            for i in looked_in:
                taken = set(columns_of(found[i]))
                ways = [
                    (way, columns)
                    for way in _ways(each, tables[i], said, alone=len(tables) == 1)
                    if taken.isdisjoint(columns := columns_of({each.name: way}))
                ]
                if len(ways) > 1:
                    _refuse_choice(each.name, say(each), tables[i], [", ".join(columns) for _, columns in ways])
                if ways:
                    found[i][each.name] = ways[0][0]
                    break
            else:
                _refuse_unused(_said_of(each.name, said), [tables[i] for i in looked_in])
        _check_found(definition, tables, found)
        ids = _ids(tables, said)
    if all(ids):
        for places, column in zip(found, ids):
            places[ID] = column
    return found


def tables_of(each: Input, n_tables: int) -> list[int]:
    """The tables in which an input is looked for, in this order: a second one is the references'."""
    if each.name == "references":
        return [n_tables - 1]
    return list(range(n_tables))[::-1] if each.gold else [0]


def names_looked_for(definition: Definition, i: int, n_tables: int, said: Mapping[str, str]) -> set[str]:
    """The names under which table ``i`` of ``n_tables`` may have an input or ids, where the user doesn't say."""
    names = set(ID_COLUMNS) if n_tables == 2 and ID not in said else set()
    for each in definition.inputs:
        if i in tables_of(each, n_tables) and not _said_of(each.name, said):
            names.update(each.columns)
    return names


def say(each: Input, columns: Iterable[str] = ()) -> tuple[str | SayColumns, ...]:
    """Parts of a text: how to say in which column an input is, or in which columns its fields are; one of ``columns``
    that is called like the input, but for capitals, is taken for it."""
    fields = tuple((f"{each.name}.{field.name}", None) for field in each.fields)
    whole = SayColumns(((each.name, next((c for c in columns if c.lower() in each.columns), None)),))
    return (whole, " or ", SayColumns(fields)) if fields else (whole,)


def columns_of(places: Mapping[str, Place]) -> list[str]:
    """The columns to read, each once."""
    columns = [c for place in places.values() for c in ([place] if isinstance(place, str) else place.values())]
    return list(dict.fromkeys(columns))


def _check_said(definition: Definition, tables: Sequence[Table], said: Mapping[str, str]) -> None:
    fields = {each.name: [field.name for field in each.fields] for each in definition.inputs if each.fields}
    known = {*(each.name for each in definition.inputs), ID} | {f"{n}.{f}" for n in fields for f in fields[n]}
    if len(tables) > 1:
        known.add(REFERENCE_ID)
    for name, column in said.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else ""
            refuse("unknown input", ", ".join(sorted(known)), hint, where=f"columns {name}")
        each = definition.input(name)
        if not column and (name == ID or each is not None and not each.required):
            continue
        if not column or not any(table.has(column) for table in tables):
            two = "," in column and each is not None and each.kind == SCORE
            hint = "one column is enough: that with P(positive)" if two else ""
            refuse("no such column", _columns(tables), hint, where=f"columns {name}={column}")
    for name, parts in fields.items():
        given = _said_of(name, said)
        lacking = [f"{name}.{part}" for part in parts if f"{name}.{part}" not in given]
        if lacking and set(given) - {name}:
            refuse("no column for it", f"a column for every field of {name}", where=f"columns {lacking[0]}")
        if name in given and len(given) > 1:
            refuse("given as a whole and by field", "one of them", where=f"columns {name}")


def _said_of(name: str, said: Mapping[str, str]) -> dict[str, str]:
    """What the user says of an input and its fields."""
    about = {key: column for key, column in said.items() if key.partition(".")[0] == name}
    return {key: column for key, column in about.items() if key != REFERENCE_ID}


def _ways(each: Input, table: Table, said: Mapping[str, str], *, alone: bool) -> list[Place]:
    """The places in a table where an input may be."""
    parts = [field.name for field in each.fields]

    def whole(ways: Sequence[Place]) -> list[Place]:
        return [way for way in ways if all(map(table.has, columns_of({each.name: way})))]

    given = _said_of(each.name, said)
    if given:
        return whole([given.get(each.name) or {part: given[f"{each.name}.{part}"] for part in parts}])
    there = set(table.columns)
    named: list[Place] = [*each.columns, *(column for layout, column in each.in_layouts if layout == table.layout)]
    bare: list[Place] = [{part: part for part in parts}] if parts else []
    if parts:
        named += [{part: prefix + part for part in parts} for prefix in FIELD_PREFIXES.get(each.name, ())]
    if each.name == "references":
        named += bare
    found = [way for way in named if there.issuperset(columns_of({each.name: way}))]
    found = [way for way in found if way in table.first] or found
    # beside predictions that are called so, a dataset's own columns are no candidates
    return found or ([] if alone else [way for way in bare if there.issuperset(columns_of({each.name: way}))])


def _refuse_unused(given: Mapping[str, str], tables: Sequence[Table]) -> None:
    """Refuse that an input isn't where the user says it is."""
    for key, column in given.items():
        if not any(table.has(column) for table in tables):
            refuse(f"no such column in {tables[0].name}", _columns(tables[:1]), where=f"columns {key}={column}")
    if given:
        where = f"columns {', '.join(f'{key}={column}' for key, column in given.items())}"
        refuse("the column of another input, too", "a column of its own", where=where)


def _check_found(definition: Definition, tables: Sequence[Table], found: Sequence[Mapping[str, Place]]) -> None:
    """Refuse tables without any predictions, and a second one without anything."""
    own = [each for each in definition.inputs if not each.gold]
    needed = [each for each in own if each.required] or own
    if not any(each.name in found[0] for each in needed):
        _refuse_none(needed, tables[0])
    if len(tables) == 2 and not found[1]:
        gold = [each for each in definition.inputs if each.gold][:1]
        if not gold:
            refuse(f"nothing is wanted of {tables[1].name}", "no such file", where="references")
        _refuse_none(gold, tables[1])


def _refuse_none(inputs: Sequence[Input], table: Table) -> None:
    hint: list[str | SayColumns] = []
    for each in inputs:
        hint += [" or " if hint else "say which one it is with ", *say(each, table.columns)]
    hint += [f"; {table.otherwise}"] if table.otherwise else []
    refuse(f"no such column in {table.name}", _columns([table]), tuple(hint), inputs=(inputs[0].name,))


def _ids(tables: Sequence[Table], said: Mapping[str, str]) -> list[str]:
    """The columns with ids, "" where a table has none: if possible one that is in both."""
    if said.get(ID) == "":
        return [""]
    given = [said.get(ID, "") for _ in tables]
    if len(tables) == 2:
        given[1] = said.get(REFERENCE_ID, given[1])
    there = [
        [column] if column and table.has(column) else [name for name in ID_COLUMNS if name in table.columns]
        for column, table in zip(given, tables)
    ]
    if len(tables) == 1:
        return there[0][:1] or [""]
    both = set(there[0]).intersection(there[1])
    there = [[name for name in names if name in both] or names for names in there]
    for table, names in zip(tables, there):
        if len(names) > 1 and all(there):
            _refuse_choice(ID, (SayColumns(((ID, None),)),), table, names)
    ids = [names[0] if names else "" for names in there]
    if any(given) and not all(ids):
        refuse(f"no ids in {tables[ids.index('')].name}", "ids in both files", where="columns id")
    return ids


def _refuse_choice(name: str, way: tuple[str | SayColumns, ...], table: Table, columns: Sequence[str]) -> None:
    found, hint = f"{table.name} has {' and '.join(columns)}", ("say which one it is with ", *way)
    refuse(found, "one of them", hint, inputs=(name,))


def _columns(tables: Iterable[Table]) -> str:
    return f"one of the columns {', '.join(shown(name) for table in tables for name in table.columns)}"
