"""Words by which a rule recognises what a sentence is: English and Chinese, where users write either.

A sentence is kept as it stands; nothing here rewrites.
"""

import re
from dataclasses import dataclass
from itertools import groupby

_ENDS = {". ": ".\n", "! ": "!\n", "? ": "?\n"}
_CHINESE_ENDS = {end: f"{end}\n" for end in "。！？；"}
"""What ends a sentence -> the same with a line break: four plain replacements take a third of a pattern's time."""
_BULLET = re.compile(r"^(?:[-*•]\s+|\d{1,2}[.)]\s+)+")


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern, those inside brackets left alone."""
    found = [""]
    depth = 0
    for sign in pattern:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            found.append("")
        else:
            found[-1] += sign
    return found


@dataclass(frozen=True, slots=True)
class Cues:
    """Words that tell what a sentence is. English ones are sought in lower case, Chinese ones only where some are."""

    english: re.Pattern[str]
    chinese: re.Pattern[str]

    @classmethod
    def of(cls, english: str, chinese: str) -> "Cues":
        """`english`: alternatives, each of whole words. Those of one letter are tried together: twice as fast."""
        groups = groupby(sorted(_alternatives(english), key=lambda one: one[0]), key=lambda one: one[0])
        by_letter = (
            f"{letter}(?:{'|'.join(one[1:] for one in ones)})" if letter.isalpha() else "|".join(ones)
            for letter, ones in groups
        )
        return cls(re.compile(rf"(?<!\w)(?:{'|'.join(by_letter)})\b"), re.compile(chinese))

    def found_in(self, low: str) -> bool:
        """Whether a sentence in lower case holds one."""
        return bool(self.english.search(low)) or (not low.isascii() and bool(self.chinese.search(low)))


_STRONG = Cues.of(
    # orders: what must not be done, what must be, for how long
    r"do not|don[’']?t|never|must(?: not|n[’']t)?|should(?: not|n[’']t)|shall not|"
    r"can(?:not|[’']t) (?:use|touch|change|add)|always|use only|"
    r"only (?:use|in|with|if|when|after|the|ever|edit|change|write|answer|reply|touch)|nothing (?:but|except)|"
    r"from now on|from here on|from this point|going forward|henceforth|in future|for the rest of|until i (?:say|tell)|"
    r"under no circumstances|no matter what|not allowed|not permitted|forbidden|prohibited|banned|off[- ]limits|"
    r"hands off|refrain|avoid|without (?:using|touching|changing|adding|breaking|asking)|make sure|ensure|be sure|"
    r"see to it|at (?:most|least)|no more than|no longer than|stick (?:to|with)|stop (?:using|doing|adding)|insist|"
    r"mandatory|strictly|no (?:new|third[- ]party|external|extra|additional|more|other) \w+|"
    r"(?:leave|keep) .{1,60}\b(?:alone|untouched|unchanged|intact|as (?:it|they) (?:is|are)|as is|below|under|stable|"
    r"frozen)|(?:answers?|respon(?:d|ses?)|repl(?:y|ies)|write|speak|talk|comments?|explain|messages?)(?: \w+){0,4} in "
    r"(?:[a-z]+(?:ese|ish|ian|ch|an|ic|ew|ai|di))",
    r"不要|不得|不能|不可|不许|不准|不应|不用|别再|别(?=[用动改碰删加写做去把])|禁止|严禁|切勿|请勿|勿|必须|务必|一定要|一定不|"
    r"只能|只用|只许|只准|仅(?:用|限|能|使用)|总是|始终|永远|从现在(?:起|开始)|从今以后|今后|以后(?:都|请|一律|所有|只)|接下来都|"
    r"一律|避免|除非|至少|最多|不超过|用.{1,6}(?:回答|回复|写|交流)|保持.{1,20}(?:不变|不动)",
)
_PREFERENCE = Cues.of(
    r"prefer(?:ably|ences?|red)?|i[’']d rather|i hate|please use|let[’']?s (?:use|not)|as \w+ as possible|"
    r"if possible|(?<!.)(?:please )?(?:use|keep)",
    r"优先|尽量|尽可能|请用|改用|统一|最好",
)
_WEAK = Cues.of(
    r"rather than|instead of|keep|remember|has to|have to|needs? to be|required?|unless|except|convention|"
    r"style|format|by default|whenever|every time|only|limit|restrict",
    r"保持|使用|记住|注意|希望|需要|按照",
)
_DECISION = Cues.of(
    r"decided|decision|we(?:[’']ll| will| should)? (?:use|go with|choose|chose|keep|switch)|"
    r"i(?:[’']ll| will)? (?:use|go with|choose|chose)|chose|opted|settled on|agreed|instead of|rather than|because|"
    r"the (?:root )?cause|the reason|turns out|trade-?off",
    r"决定|选择|改用|采用|因为|原因是|而不是|根本原因",
)
# What somebody says about himself orders nothing: "I don't have the number", "I can't find it", "I always fly economy".
_ABOUT_ME = re.compile(
    r"\b(?:i|we|it|that|this|he|she|they|there|which)(?:[’']m| am| are| was| were|[’']ve)?\s+"
    r"(?:really |also |just |currently |still |actually )?"
    r"(?:do(?:es)?(?: not|n[’']?t)|did(?: not|n[’']?t)|can(?:not|[’']t)|couldn[’']t|never|always)\s+(?:\w+ly )?"
    r"(?:have|know|remember|think|see|understand|believe|recall|mind|care|need|find|seem|get|work|exist|got|had|heard|"
    r"sure|even|really)\b|"
    r"\bi (?:\w+ ){0,2}(?:want|wanted|need|like|love|trying) (?:\w+ )?to (?:make sure|ensure|be sure)\b|"
    r"\bmust have (?:\w+ed|left|been|lost)\b|\b(?:the|my|an?|one) only\b|\bdon[’']?t (?:worry|know|think)\b|"
    r"\b(?:thank|sorry)\b"
)
_OPENS_CODE = re.compile(
    r"E\s{2,}|\s*(?:raise|throw|assert|return|print|console|elif|except|catch|var|let|const)\b[^。!]*[({=\[]|"
    r"\s*(?:[+\-<>|#@*/=]{1,}|def |class |import |from \S+ import|return |if .*:$|\$ )"
)
_IN_CODE = re.compile(r"(?:Error|Exception): |[=!<>]=|=>|->|\w\(\w*\)\.")
_ENDS_CODE = re.compile(r"[{};]\s*$|\)\s*[{:]\s*$")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, trimmed, empty ones left out."""
    for end, line_end in _ENDS.items() if text.isascii() else (*_ENDS.items(), *_CHINESE_ENDS.items()):
        text = text.replace(end, line_end)
    return [part for part in (_BULLET.sub("", piece.strip()) for piece in text.split("\n")) if part]


def clauses(sentence: str) -> list[str]:
    """A sentence at its semicolons: a rule is often one half of a request."""
    if ";" not in sentence and "；" not in sentence:
        return [sentence]
    return [part for part in (piece.strip() for piece in re.split(r"(?<=[;；])\s*", sentence)) if part]


def constraint_strength(sentence: str) -> float:
    """How strongly a user's sentence binds what comes later: 0 = not at all, 1 = clearly."""
    low = sentence.lower()
    strength = _strength(low)
    if strength and _ABOUT_ME.search(low):
        strength = _strength(_ABOUT_ME.sub(" ", low))
    if not strength:
        return 0.0
    if _is_code(sentence):
        strength *= 0.15
    if is_question(sentence):
        strength *= 0.3
    return strength if len(sentence) <= 300 else strength * 0.4


def _strength(low: str) -> float:
    if _STRONG.found_in(low):
        return 1.0
    if _PREFERENCE.found_in(low):
        return 0.7
    return 0.4 if _WEAK.found_in(low) else 0.0


def is_decision(sentence: str) -> bool:
    """Whether an assistant's sentence says what was decided, or why."""
    return _DECISION.found_in(sentence.lower()) and not _is_code(sentence)


def is_question(sentence: str) -> bool:
    end = sentence.rstrip()
    return end.endswith(("吗", "呢", "吗。", "呢。")) or end.rstrip("\"'”’)").rstrip().endswith(("?", "？"))


def _is_code(sentence: str) -> bool:
    return bool(_OPENS_CODE.match(sentence) or _IN_CODE.search(sentence) or _ENDS_CODE.search(sentence[-40:]))
