"""The style sheet of everything drawn: names in texts, candidates, waterfalls. Colours come from `meanings`."""

from __future__ import annotations

from namesake.drawing.meanings import variables

FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif'

_PARTS = """
@ { color: var(--ink); background: var(--paper); font: 16px/1.55 FONT; }
@ a { color: var(--person); }
@ .soft, @ caption { color: var(--soft); }
@ .text { white-space: pre-wrap; overflow-wrap: anywhere; }
@ .name { color: var(--ink); text-decoration: none; border-radius: .2em; padding: .05em .15em; margin: 0 -.05em;
  border-bottom: 2px solid var(--person); -webkit-box-decoration-break: clone; box-decoration-break: clone; }
@ .name.sure { background: var(--sure); }
@ .name.likely { background: var(--likely); }
@ .name.faint { background: var(--faint); }
@ .name.nobody { background: none; border-bottom: 2px dashed var(--nobody); }
@ .match { color: var(--ink); background: var(--match); border-radius: .2em; padding: 0 .1em; }
@ b.nobody, @ span.nobody:not(.name) { color: var(--nobody); }
@ .qid { text-underline-offset: .15em; overflow-wrap: anywhere; }
@ .code { font-variant-numeric: tabular-nums; }
@ .years { white-space: nowrap; }
@ .right { color: var(--for); } @ .wrong { color: var(--against); }
@ .verdict { margin: .3rem 0 1rem; }
@ .candidates { position: relative; display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
@ .candidate { border: 1px solid var(--rule); border-radius: .6rem; padding: .7rem .9rem .9rem; min-width: 0;
  background: var(--paper); }
@ .candidate { --own: var(--person); } @ .candidate.none { --own: var(--nobody); }
@ .candidate.best { border-color: var(--own); box-shadow: inset 0 3px 0 var(--own); }
@ .candidate h3 { margin: 0; font-size: 1.05rem; line-height: 1.3; }
@ .candidate h4 { margin: .8rem 0 .2rem; font-size: .8rem; color: var(--soft); font-weight: 600; }
@ .candidate p { margin: .15rem 0; font-size: .88rem; }
@ .candidate ul { margin: 0; padding: 0; list-style: none; font-size: .88rem; }
@ .candidate li { margin: .15rem 0; overflow-wrap: anywhere; }
@ .candidate summary { font-size: .88rem; color: var(--soft); cursor: pointer; margin-top: .5rem; }
@ .likelihood { display: flex; align-items: center; gap: .5rem; }
@ .likelihood svg { flex: 1; height: .4rem; border-radius: .2rem; }
@ .likelihood .whole { fill: var(--band); } @ .likelihood .part { fill: var(--own); }
@ .likelihood b { font-variant-numeric: tabular-nums; }
@ .waterfall { border-collapse: collapse; width: 100%; font-size: .82rem; line-height: 1.35; margin: .5rem 0 0;
  font-variant-numeric: tabular-nums; }
@ .waterfall caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@ .waterfall, @ .waterfall tr, @ .waterfall th, @ .waterfall td { color: var(--ink); background: none; padding: 0;
  text-align: left; border: 0; table-layout: auto; }
@ .waterfall :is(tr, th, td) { line-height: inherit; }
@ .waterfall th { font-weight: 400; padding: .1rem .5rem .1rem 0; width: 50%; }
@ .waterfall td { padding: .1rem 0; text-align: right; white-space: nowrap; }
@ .waterfall .bar { width: 34%; padding-right: .5rem; }
@ .waterfall svg { display: block; width: 100%; height: .85rem; margin: 0; }
@ .waterfall line { stroke: var(--rule); vector-effect: non-scaling-stroke; }
@ .waterfall .for rect { fill: var(--for); } @ .waterfall .against rect { fill: var(--against); }
@ .waterfall .total rect { fill: var(--own); }
@ .waterfall .total > * { border-top: 1px solid var(--rule); font-weight: 600; }
@media (max-width: 40rem) {
  @ .candidates { grid-template-columns: none; grid-auto-flow: column; grid-auto-columns: 86%; overflow-x: auto;
    scroll-snap-type: x mandatory; padding: 3px 3px .8rem; margin: 0 -3px; align-items: start; }
  @ .candidate { scroll-snap-align: start; }
}
"""


JUPYTER = ('[data-jp-theme-light="true"]', '[data-jp-theme-light="false"]')
"""What JupyterLab says of its theme: light, dark. The system may have another."""


def style_sheet(under: str = "body") -> str:
    """The rules for all that is drawn below `under`, with its colours; within a notebook, as its theme is."""
    colours = variables(":root") if under == "body" else variables(under, JUPYTER)
    return colours + _PARTS.replace("FONT", FONT).replace("@ ", f"{under} ")
