# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Phrases that an HPC engineer would not write, each with the usual words (docs/inside/style.md).

tools/english.py refuses them in README, the documentation, help texts and messages.
"""

from __future__ import annotations

import re

_PHRASES = {
    r"(?<=\s)(?:says?|said|saying|tells?|told)\b(?! apart)|\b(?:[Ss]ays?|[Tt]ells?) ": (
        "prints, reports, records, sets"
    ),
    r"\blook(?:s|ed)? (?:at|into|for|where|how|closely)\b|\blooks? whether\b": "checks, examines",
    r"\bor alike\b": "or a similar one",
    r"\bwants? the extra\b": "needs the extra",
    r"\bthat is near\b": "nearby",
    r", and the word\b": "and a label",
    r"\bno excuse\b|\bbrings? home\b|\btake us along\b|\bthat fingers know\b": "no idiom",
    r"\blistens? to (?:its|the) cores?\b|\beach rank listens\b": "samples OS noise",
    r"\b(?:sit|sits|sat) (?:to each other|on|where|there|and|elsewhere)\b|\b(?:would|ranks?) sat?\b"
    r"|\b(?:would|can|ranks|who) sit\b": "is placed, runs on",
    r"\bpeople quote\b|\bpeople want\b": "headline numbers, the user needs",
    r"\bgoes on where\b|\b(?:go|goes|went) on with\b": "resumes, continues",
    r"\bthe receiver is asked\b|\bWhat carries\b": "rendezvous, transport",
    r"\bnobody (?:has|knows|could|can|would|writes|had)\b": "the unknown thing as subject",
    r"\b(?:with|for) certainty\b|\bfor certain\b|\bcertainly\b": "significantly",
    r"\btakes \S+(?: \d\S*)? by itself\b": "is linked to",
    r"\bcan(?:not| only)? be (?:had|got)\b|\bnone was to be had\b": "available, supported",
    r"\bas if we were not there\b": "transparently",
    r"\bafter another process has tried\b": "after probing in a child process",
    r"\b(?:is|are|was) found out\b|\bfind out how\b": "is measured, is detected",
    r"\bWhatever waits\b|\bthe longer the\b": "scales with",
    r"\bfound by itself\b|\bno list to be edited\b": "discovered automatically",
    r"\bfor who(?:ever)?\b|\bwho has never\b|\b[Ww]hoever\b|\bWho has typed\b": "for users who",
    r"\bspoils? (?:times|measurements)\b|\bmends?\b|\bmended\b|\bmending\b": "distorts; fixes",
    r"\bexamines itself\b": "is checked",
    r"\bstands? out\b|\bin all likelihood\b": "anomaly, likely cause",
    r"\b[Tt]he dearest\b": "the most costly",
    r"\bAsk all\b|\bsomething, in the SQL\b": "query",
    r"\bas long as more of them help\b": "until the precision is reached",
    r"\bOf all random orders\b|\(\S+\) Of messages\b|\bbefore a wait\b": "random seed, in flight",
    r"\bat the closest\b": "innermost common level",
    r"\bthey themselves\b|\bWho (?:binds|takes|pays|sits|has|knows|reads)\b": "the noun",
    r"\bwhat is sent\b|\bwhat was sent\b|\bwhat arrives\b": "send buffer, message",
    r"\bthe same, a line each\b|\ba line each\b": "one per line",
    r"\b(?:what|is|was|are) remembered\b": "run history",
    r"\b(?:come|comes|came) to run\b": "is launched",
    r"[,;] (?:and )?starts? nothing\b": "without launching it",
    r"\bof unlike things\b|\bunlike things\b": "separate settings",
    r"\b(?:Make|makes?) (?:a run )?of what\b": "import the output",
    r"\bTry again whether\b|\bmeasure what failed\b": "re-verify, re-measure",
    r"\bMore for the head\b": "extra directives",
    r"\bwith one, all that\b|\bhave it in their names\b": "all that match",
    r"\b[Ii]n place of a (?:command|number)\b|\bwill do\b(?!\w)": "instead of",
    r"\bthe other one has allowed\b": "with the peer's consent",
    r"\bnew start of the machine\b": "reboot",
    r"\bit is written why\b": "see the terminal",
    r"\ball the same\b": "nevertheless, anyway",
    r"\bwithout a rest\b|\bwishes to\b": "with all its children, signals",
    r"\bis none\b(?! of| here)|\bnothing was brought\b|\bnames none\b": "the fact as a noun",
    r"\b\d+ times of 100\b|\bof 100 times\b": "95 %",
    r"\b(?:stand|stands|stood) (?:there|beside|below|above|behind|under|in|on|at|for itself)\b": (
        "is, is listed"
    ),
    r"\bBelow (?:it|them|that|the tables?) stands?\b|\bBeside \w+ \w+ stands?\b": "is, is listed",
    r"\bwhat it takes\b|\bwhat that is\b|\bwhat they are\b|\bwhat it is\b": "the noun",
    r"\bhow sure\b|\bknown well enough\b|\bis sure\b": "error, precise enough",
    r"\b(?:looks?|looked) (?:at it|whether|again)\b": "checks, examines",
    r"\bmade by hand\b|\bnothing speaks against\b": "no idiom",
    r"\bthose of those\b|\bthat of that\b|\bthe same of\b": "repeat the noun",
}
PHRASES = {re.compile(pattern): remedy for pattern, remedy in _PHRASES.items()}
