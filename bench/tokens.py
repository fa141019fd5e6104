"""Token counting: speed per kind of text and, where the extra `tokenizer` is installed, the error of the estimate.

Run from the root of the repository: `python -m bench.tokens`.
"""

import argparse
import base64
import json
import random
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from pydoc_data.topics import topics

from abridged.conversation.tokens import Counter, default_counter, estimate_tokens

SIZE = 100_000
"""Characters of each text."""
RANDOM = random.Random(7)
PROSE = "\n".join(topics.values())
WORDS = sorted({word for word in PROSE.split() if word.isalpha() and len(word) > 2})
CHINESE = [
    "昨天晚上构建失败了，因为其中一台机器与缓存服务器断开了连接。",
    "我们检查了配置文件，没有发现异常。",
    "请在星期五发布之前确认超时时间是不是太短，并把结果写进文档。",
    "用户反馈页面加载缓慢，数据库查询需要增加索引。",
]
JAPANESE = [
    "昨夜のビルドは、サーバーの一台が接続を失ったために失敗しました。",
    "設定ファイルを確認しましたが、問題は見つかりませんでした。",
    "金曜日のリリースまでに、タイムアウトが短すぎるのかどうかを調べてください。",
    "データベースの検索が遅いので、索引を追加する必要があります。",
]
KOREAN = [
    "어젯밤 빌드가 실패한 이유는 서버 한 대가 캐시와의 연결을 잃었기 때문입니다. ",
    "설정 파일을 확인했지만 이상한 점은 없었습니다. ",
    "금요일 배포 전에 제한 시간이 너무 짧은지 누군가 확인해야 합니다. ",
    "데이터베이스 조회가 느려서 색인을 추가해야 합니다. ",
]


def sentence() -> str:
    return " ".join(RANDOM.choices(WORDS, k=RANDOM.randint(5, 14))).capitalize() + ". "


def record() -> dict[str, object]:
    number = RANDOM.randint(1, 10**6)
    return {"id": number, "user": f"{RANDOM.choice(WORDS)}_{number}", "note": sentence(), "price": number / 100}


def log_line() -> str:
    minute, millisecond = RANDOM.randint(10, 59), RANDOM.randint(100, 999)
    return f"2025-03-14 09:{minute}:07,{millisecond} INFO {RANDOM.choice(WORDS)}: {sentence()}\n"


def path_and_id() -> str:
    number = RANDOM.randint(1, 99)
    return f"ERR-{400_111 + number}, /srv/app/mod_{number}/{RANDOM.choice(WORDS)}.py, TICKET-{9000 + number}x, "


KINDS: dict[str, Callable[[], str]] = {
    "prose": lambda: PROSE,
    "python": lambda: Path(argparse.__file__).read_text("utf-8"),
    "json": lambda: json.dumps(record(), indent=2) + ",\n",
    "compact json": lambda: json.dumps(record(), separators=(",", ":")) + ",",
    "logs": log_line,
    "chinese": lambda: RANDOM.choice(CHINESE),
    "japanese": lambda: RANDOM.choice(JAPANESE),
    "korean": lambda: RANDOM.choice(KOREAN),
    "base64": lambda: base64.b64encode(RANDOM.randbytes(300)).decode(),
    "hex": lambda: RANDOM.randbytes(32).hex() + "\n",
    "numbers": lambda: f"{RANDOM.random() * 10_000:.3f},{RANDOM.randint(1, 10**6)}\n",
    "emoji": lambda: RANDOM.choice("🚀🎉🔥🐛💡📦🏮") + " " + sentence(),
    "paths and ids": path_and_id,
}


def text_of(kind: str) -> str:
    pieces: list[str] = []
    size = 0
    while size < SIZE:
        pieces.append(KINDS[kind]())
        size += len(pieces[-1])
    return "".join(pieces)[:SIZE]


def seconds(counter: Counter, text: str, times: int) -> float:
    """Seconds for one count, the best of five rounds."""
    rounds: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(times):
            counter(text)
        rounds.append(time.perf_counter() - start)
    return min(rounds) / times


def main() -> None:
    exact = default_counter() if find_spec("toktok") else None
    exact = None if exact is estimate_tokens else exact
    for kind in KINDS:
        text = text_of(kind)
        speed = len(text.encode()) / seconds(estimate_tokens, text, 5) / 1e6
        line = f"{kind:14} {speed:6.0f} MB/s {len(text) / estimate_tokens(text):6.2f} characters per token"
        if exact is not None:
            parts = [text[start : start + 1_000] for start in range(0, SIZE, 1_000)]
            errors = [abs(estimate_tokens(part) / exact(part) - 1) for part in parts]
            line += f"   mean error {sum(errors) / len(errors):6.1%} in parts of 1,000 characters"
        print(line)
    short = text_of("prose")[:100]
    print(f"{'100 characters':14} {seconds(estimate_tokens, short, 5_000) * 1e6:6.1f} microseconds estimated", end="")
    print("" if exact is None else f", {seconds(exact, short, 2_000) * 1e6:.1f} counted by the tokenizer")


if __name__ == "__main__":
    main()
