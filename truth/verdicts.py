"""The quality of answers: `Verdict`, one per question, and `Record`, all of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path

from graph import Place
from session import Answer


class Verdict(Enum):
    """The columns of the table.

    `LARGER`: right, with places of related symbols, which the server includes by design. `FLAGGED`: something is
    missing, and the status says so, or the call was rightly refused. `CAUTIOUS`: flagged or refused, though the oracle
    finds nothing missing. `HINTED`: about another symbol, and the status says which. `WRONG`: neither right nor
    flagged.
    """

    RIGHT = "right"
    LARGER = "larger by design"
    FLAGGED = "rightly flagged"
    CAUTIOUS = "flagged though right"
    HINTED = "wrong, hinted"
    WRONG = "WRONG"


@dataclass(frozen=True)
class Outcome:
    """A verdict, and why."""

    verdict: Verdict
    why: str = ""


@dataclass
class Judgement:
    """One question with its verdict: everything needed to reproduce it."""

    verdict: str
    part: str
    tree: str
    seed: int
    question: str
    why: str
    status: str
    steps: list[str]

    @property
    def text(self) -> str:
        """For people."""
        steps = "".join(f"\n    {step}" for step in self.steps)
        return f"{self.verdict}: {self.tree}, {self.part}: {self.question}\n  {self.why}\n  {self.status}{steps}"


@dataclass
class Record:
    """All verdicts of a run, by part.

    `report` is called for each answer that was not right. `log`, if there is one, gets a line of JSON for each question
    as soon as it is judged (`Judgement`), so that it counts however the run ends.
    """

    report: Callable[[str], None]
    log: Path | None = None
    counts: dict[str, Counter[Verdict]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[Judgement] = field(default_factory=list)
    calls: int = 0
    again: int = 0  # calls that were made again, since the status said that the answer was not verified yet

    def add(
        self, part: str, tree: str, seed: int, answer: Answer, outcome: Outcome, steps: Collection[str] = ()
    ) -> None:
        """Add one outcome; `steps` are the earlier edits."""
        self.counts[part][outcome.verdict] += 1
        kind = outcome.verdict.name.lower()
        question = answer.command()
        one = Judgement(kind, part, tree, seed, question, outcome.why, answer.status[:1500], list(steps))
        if outcome.verdict not in (Verdict.RIGHT, Verdict.LARGER):
            self.failures.append(one)
            self.report(one.text)
        if self.log:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(asdict(one)) + "\n")

    @property
    def wrong(self) -> int:
        """Answers that were wrong without a flag."""
        return sum(counts[Verdict.WRONG] for counts in self.counts.values())


def judged(
    answer: Answer,
    got: Collection[Place],
    required: Collection[Place],
    allowed: Collection[Place],
    unread: Collection[Place] = (),
    elsewhere: Collection[Place] = (),
    has_unnamed: bool = True,
) -> Outcome:
    """The verdict on an answer that consists of places.

    Right: it has all that is `required` and nothing that is not `allowed` (`unread` places, of which the oracle knows
    nothing, are). Rightly flagged: something required is missing, or the oracle could not know, and the gaps name
    each file concerned. A flag about other files does not excuse what is missing. What the symbol means `elsewhere`, in
    other configurations, has to be there or flagged. That uses without its name are not counted is right to say if it
    `has_unnamed` ones.
    """
    if answer.error:
        known = "the oracle does not know all either" if unread else f"{len(required)} places are known"
        return Outcome(Verdict.FLAGGED if unread else Verdict.CAUTIOUS, known)
    found = set(got)
    missing = set(required) - found
    extra = found - set(required) - set(allowed) - set(unread)
    why = "; ".join(
        f"{len(places)} {what}: {', '.join(place.shown for place in sorted(places)[:8])}"
        for what, places in (("missing", missing), ("not its own", extra))
        if places
    )
    if missing or extra:
        if answer.hiding and answer.names({place.file for place in missing | extra}):
            return Outcome(Verdict.FLAGGED, why)
        # An answer about another symbol altogether, which says what it took the anchor for.
        hinted = answer.remarks and not found & set(required)
        return Outcome(Verdict.HINTED if hinted else Verdict.WRONG, why)
    more = set(elsewhere) - found
    if answer.hiding and answer.lacks_unnamed and has_unnamed:
        return Outcome(Verdict.FLAGGED, "objects are used without the name")
    if answer.hiding:
        proven = f"; {len(more)} more in other configurations: {min(more).shown}" if more else ""
        return Outcome(Verdict.FLAGGED if unread else Verdict.CAUTIOUS, f"all {len(required)} places are there{proven}")
    if more:
        shown = ", ".join(place.shown for place in sorted(more)[:8])
        return Outcome(Verdict.WRONG, f"{len(more)} missing of other configurations: {shown}")
    return Outcome(Verdict.LARGER if found - set(required) else Verdict.RIGHT)
