"""Input for the programs that are measured: made here, the same each time."""

import random


def c_source(path, functions):
    """A C file that keeps an optimiser busy: loops, branches, arrays, structs, calls of earlier functions."""
    draw = random.Random(2)
    parts = ["struct point { double x, y; int tag; };\nint sink;\n"]
    for f in range(functions):
        body = [f"double f{f}(struct point *p, int *a, int n)\n{{\n\tdouble s = {draw.randint(1, 99)};\n"]
        for _ in range(draw.randint(3, 8)):
            body.append(statement(draw, f))
        body.append("\treturn s;\n}\n")
        parts.append("".join(body))
    path.write_text("\n".join(parts))
    return path


def statement(draw, f):
    k, m = draw.randint(2, 60), draw.randint(2, 9)
    return draw.choice([
        f"\tfor (int i = 0; i < n; i++)\n\t\ts += a[i] * {k} + (i % {m} ? p[i].x : p[i].y);\n",
        f"\tfor (int i = 1; i < n; i++)\n\t\tfor (int j = 0; j < i; j += {m})\n\t\t\ta[i] ^= a[j] + {k};\n",
        f"\tswitch (a[{k}] % {m}) {{\n" + "".join(
            f"\tcase {c}:\n\t\ts = s * {c + 2} - p[{c}].tag;\n\t\tbreak;\n" for c in range(m)) + "\t}\n",
        f"\tif (s > {k} && p->tag & {m})\n\t\tp[{m}].x = s / (p->y + {k});\n\telse\n\t\tsink += a[{m}]++;\n",
        f"\ts += f{draw.randrange(f)}(p + {m}, a + {k}, n / {m});\n" if f else "\tsink++;\n",
        f"\tdo {{\n\t\tp->x *= 0.{k:02d};\n\t\tp->tag += a[p->tag & {m}];\n\t}} while (p->x > {m} && n--);\n",
    ])


def sql(path, rows):
    """Inserts, an index, joins, groups and sorts; for the sqlite3 command on a database in memory."""
    path.write_text(f"""
create table item(id integer primary key, name text, price real, kind integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
insert into item select i, 'item ' || (i * 7919 % {rows}), (i * 31 % 1000) / 10.0, i % 97 from n;
create index item_name on item(name);
select kind, count(*), sum(price), max(name) from item group by kind order by 3 desc;
select count(*) from item a join item b on b.name = 'item ' || a.id where a.price < b.price;
update item set price = price * 1.1, name = upper(name) where kind % 3 = 0;
select name, length(replace(name, '1', 'one')) from item where name like '%99%' order by name desc limit 20;
delete from item where id % 2;
select total(price), avg(length(name)) from item;
""")
    return path


def text(path, size):
    """Words of uneven frequency, half-compressible as real data is."""
    draw = random.Random(3)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(3000)]
    weights = [1 / (1 + i) for i in range(len(words))]
    piece, left = [], size
    while left > 0:
        line = " ".join(draw.choices(words, weights, k=12)) + f" {draw.getrandbits(40):x}\n"
        piece.append(line)
        left -= len(line)
    path.write_text("".join(piece))
    return path
