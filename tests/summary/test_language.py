"""What a sentence is: an order that binds what comes later, a decision, a question, or none of these."""

import pytest

from abridged.summary.language import clauses, constraint_strength, is_decision, is_question, sentences

BINDS = 0.4
"""From here on a sentence is a constraint; below, it is at most a hint."""

ENGLISH_RULES = [
    "Do not use pandas, only the standard library.",
    "Don't touch the migrations folder.",
    "Don’t rename public functions.",
    "Never commit directly to main.",
    "You must keep the public API stable.",
    "Tests must not use the network.",
    "The port should not change.",
    "Always run the tests before you push.",
    "Use only the standard library.",
    "Only edit files under src/.",
    "From now on answer in German.",
    "Going forward, write one commit per change.",
    "For the rest of this session, ask before you delete anything.",
    "Stop adding comments to every line.",
    "Under no circumstances may the token be logged.",
    "New dependencies are not allowed.",
    "Global variables are forbidden.",
    "The legacy folder is off-limits.",
    "Please refrain from reformatting files.",
    "Avoid regular expressions in the hot path.",
    "Fix it without changing the tests.",
    "Make sure the log stays below 10 MB.",
    "Ensure every function has a type.",
    "Keep the response time below 200 ms.",
    "Leave config.yaml alone.",
    "No more than 3 retries per request.",
    "The summary has at most five lines.",
    "Stick to Python 3.11.",
    "I prefer tabs over spaces.",
    "I'd rather have small commits.",
    "Please use British spelling.",
    "Answer in French, please.",
    "No new dependencies.",
    "I insist on code review for each change.",
    "Do it strictly in this order: build, test, deploy.",
    "Remember that the server runs Debian.",
    "All dates have to be in UTC.",
    "Write comments in English.",
    "Whenever you change a table, add a migration.",
    "Unless I say otherwise, work on the branch dev.",
]
CHINESE_RULES = [
    "不要使用 pandas，只用标准库。",
    "不得修改公共接口。",
    "测试不能访问网络。",
    "禁止直接提交到 main 分支。",
    "严禁在日志里输出密码。",
    "切勿删除数据库。",
    "请勿改动配置文件。",
    "必须保留所有注释。",
    "务必先跑测试再提交。",
    "一定要用 UTC 时间。",
    "只能修改 src 目录。",
    "只用 Python 3.11。",
    "仅限使用内部镜像。",
    "始终用中文回答。",
    "永远不要强制推送。",
    "从现在起，每次改动都写测试。",
    "今后提交信息用英文写。",
    "以后都用 tab 缩进。",
    "所有接口一律返回 JSON。",
    "避免使用全局变量。",
    "除非我同意，不改表结构。",
    "至少写三个测试。",
    "最多重试两次。",
    "日志不超过 10 MB。",
    "保持接口名称不变。",
    "别动 legacy 目录。",
    "别再加注释了。",
    "不许引入新的依赖。",
    "请用英文回复。",
    "优先考虑可读性。",
    "尽量少改代码。",
    "记住服务器是 Debian。",
    "变量名统一用下划线。",
    "最好分成小的提交。",
]
ENGLISH_OTHERS = [
    "I don't know which version it is.",
    "I can't find the file.",
    "We never had that problem before.",
    "It doesn't work on my machine.",
    "It does not seem to help.",
    "I don't remember my reservation number.",
    "I always have trouble with time zones.",
    "Don't worry about it.",
    "Thank you, that was the only problem.",
    "What does this function do?",
    "Can you show me the log?",
    "Why is the build red?",
    "Which file should I open?",
    "Is it not possible to cache this?",
    "Should we use Redis here?",
    "The build takes four minutes.",
    "Here is the traceback.",
    "Yes, go ahead.",
    "Fix the parser bug in utils.py.",
    "That looks good to me.",
    "if not user: return None",
    "assert x >= 3  # must be positive",
    "from os import path",
    "> do not use this in production",
]
CHINESE_OTHERS = [
    "我不知道是哪个版本。",
    "我找不到那个文件。",
    "这个函数是做什么的？",
    "为什么构建失败了？",
    "能不能给我看一下日志？",
    "现在要用 Redis 吗？",
    "构建花了四分钟。",
    "这是报错信息。",
    "好的，继续。",
    "看起来不错。",
    "谢谢，没问题了。",
    "修复 utils.py 里的解析错误。",
    "昨天上线了新版本。",
    "服务器在上海。",
    "它又崩溃了。",
    "测试都通过了。",
    "你觉得怎么样？",
    "我在看文档。",
    "数据有三百万行。",
    "这里是第二段日志。",
]


def test_there_are_enough_wordings():
    assert min(len(ENGLISH_RULES), len(CHINESE_RULES)) >= 30
    assert min(len(ENGLISH_OTHERS), len(CHINESE_OTHERS)) >= 20


@pytest.mark.parametrize("sentence", ENGLISH_RULES + CHINESE_RULES)
def test_a_rule_is_recognised(sentence: str):
    # spec: P3.2, P3.9
    assert constraint_strength(sentence) >= BINDS


@pytest.mark.parametrize("sentence", ENGLISH_OTHERS + CHINESE_OTHERS)
def test_what_is_no_rule_is_none(sentence: str):
    # spec: P3.9
    assert constraint_strength(sentence) < BINDS


@pytest.mark.parametrize("line", ['    raise ValueError("must not be empty")', "E   AssertionError: must not be empty"])
def test_pasted_code_is_no_rule(line: str):
    # spec: P3.9
    assert constraint_strength(line) < BINDS


def test_an_order_binds_more_than_a_wish():
    # spec: P3.9
    assert constraint_strength("Never commit to main.") > constraint_strength("I prefer small commits.") > 0
    assert constraint_strength("Never do this." + " really" * 60) < constraint_strength("Never do this.")


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to use Redis instead of Memcached.",
        "I chose SQLite because it needs no server.",
        "The root cause is a missing lock.",
        "我们决定用 Redis 而不是 Memcached。",
        "选择 SQLite，因为不需要服务器。",
    ],
)
def test_decisions(sentence: str):
    # spec: P3.2
    assert is_decision(sentence)


@pytest.mark.parametrize("sentence", ["I read the file.", "The tests pass.", "if x => because: {", "我读了文件。"])
def test_no_decisions(sentence: str):
    # spec: P3.2
    assert not is_decision(sentence)


@pytest.mark.parametrize("sentence", ["Why?", "Is it “done?”", "真的吗", "怎么办？", "行呢。"])
def test_questions(sentence: str):
    # spec: P3.2
    assert is_question(sentence)
    assert not is_question(sentence + " Go.")


def test_sentences():
    # spec: P3.9
    assert sentences("One. Two!  Three?\nFour\n\n  五。六！七") == [
        "One.",
        "Two!",
        "Three?",
        "Four",
        "五。",
        "六！",
        "七",
    ]
    assert sentences("see a.py and v1.2.3 now") == ["see a.py and v1.2.3 now"]
    assert sentences(" \n ") == []
    assert clauses("fix it; do not touch b.py；快") == ["fix it;", "do not touch b.py；", "快"]
