"""How the report of an audit looks, in the light and in the dark, on a wide and on a narrow screen."""

# The colours of options are those of repro.report.charts, thin enough for text on any ground.
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .5rem; } h2 { font-size: 1.35rem; margin-top: 3rem; }
h3 { font-size: 1.1rem; margin: 2rem 0 0; } h3 + p { margin-top: .15rem; } h4 { margin: 1.5rem 0 .25rem; }
.lead { font-size: 1.1rem; max-width: 52rem; } .nav a { margin-right: 1.25rem; white-space: nowrap; }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; list-style: none; padding: 0; }
.cards li { flex: 1 1 9rem; border: 1px solid var(--line); border-radius: 8px; padding: .6rem .9rem; }
.cards strong { display: block; font-size: 1.7rem; line-height: 1.2; }
details { margin: .5rem 0; } summary { cursor: pointer; }
details.finding { border-left: 3px solid var(--line); padding-left: .75rem; }
details.finding > p { margin: .35rem 0; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .6rem .8rem; border-radius: 6px; font-size: .85rem; margin: .5rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.short th { font-weight: 400; white-space: nowrap; }
.answers { margin: .25rem 0; } .answers strong { font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .6rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { vertical-align: bottom; }
table.grid td, table.matrix td { padding: .2rem .4rem; border: 1px solid var(--line); }
table.grid th[scope=row], table.matrix th[scope=row] { font-weight: 400; white-space: nowrap; position: sticky; left: 0;
  background: Canvas; }
table.grid td { white-space: nowrap; } table.grid { font-size: .8rem; } table.grid thead th { padding: .2rem .4rem; }
table.matrix td, table.matrix thead th { text-align: center; padding: .1rem .3rem; min-width: 1.2rem; }
table.matrix a { color: inherit; text-decoration: none; }
.open { color: GrayText; } .agree, .explained { background: #009E7344; } .differ { background: #D55E0033; }
.unexplained, .explained-but-for { background: #E69F0033; } .random { background: #D55E0055; }
.o1 { background: #0072B240; } .o2 { background: #E69F0040; } .o3 { background: #009E7340; }
.o4 { background: #CC79A740; } .o5 { background: #56B4E940; }
.o6 { background: #D55E0040; } .o7 { background: #7F7F7F40; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; } .cards li { flex-basis: 100%; } .cards strong { display: inline; font-size: 1.25rem; }
  table.grid th[scope=row], table.matrix th[scope=row] { position: static; white-space: normal; min-width: 9rem; }
}
"""
