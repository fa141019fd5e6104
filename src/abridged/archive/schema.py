"""The tables, and how an older file becomes today's: a version is a list of statements, a file has run some of them.

`contents` has each distinct message once, by the hash of its JSON. `messages` is what a session said, in order.
A compaction is the list of contents before and after it. What is live in a session now is the list after its last
compaction and all messages since. `passages` and their two indexes are for recall: made when somebody asks, and made
anew where they are missing. `nodes` are summaries of messages or of other nodes: no message and no node is in two of
them, and a node is younger than all that it summarises.
"""

import sqlite3

VERSIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, started REAL NOT NULL, last REAL NOT NULL, ended REAL,"
        " parent TEXT,"
        " engine TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT '{}', owner TEXT, owned_until REAL)",
        "CREATE TABLE contents (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, json TEXT NOT NULL)",
        "CREATE TABLE messages (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
        " place INTEGER NOT NULL, content INTEGER NOT NULL REFERENCES contents(id), at REAL NOT NULL,"
        " PRIMARY KEY (session, place)) WITHOUT ROWID",
        "CREATE INDEX messages_by_content ON messages (content)",
        "CREATE TABLE compactions (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
        " number INTEGER NOT NULL, at REAL NOT NULL, place INTEGER NOT NULL,"
        " before TEXT NOT NULL, after TEXT NOT NULL, report TEXT NOT NULL,"
        " PRIMARY KEY (session, number)) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61')",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE"
        " CASCADE, place INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, header TEXT NOT NULL)",
        "CREATE INDEX passages_by_place ON passages (session, place)",
        "CREATE VIRTUAL TABLE passage_words USING fts5 (text, content='', tokenize='porter unicode61')",
        "CREATE VIRTUAL TABLE passage_names USING fts5 (text, content='', tokenize='trigram')",
    ),
    (
        "CREATE TABLE nodes (session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, number INTEGER NOT NULL,"
        " kind TEXT NOT NULL CHECK (kind IN ('leaf', 'condensed')), depth INTEGER NOT NULL, level INTEGER NOT NULL,"
        " fallback INTEGER NOT NULL, text TEXT NOT NULL, tokens INTEGER NOT NULL, source_tokens INTEGER NOT NULL,"
        " first INTEGER NOT NULL, last INTEGER NOT NULL, earliest REAL NOT NULL, latest REAL NOT NULL,"
        " CHECK (tokens < source_tokens), PRIMARY KEY (session, number)) WITHOUT ROWID",
        "CREATE TABLE node_messages (session TEXT NOT NULL, place INTEGER NOT NULL, node INTEGER NOT NULL,"
        " PRIMARY KEY (session, place),"
        " FOREIGN KEY (session, place) REFERENCES messages(session, place) ON DELETE CASCADE,"
        " FOREIGN KEY (session, node) REFERENCES nodes(session, number) ON DELETE CASCADE) WITHOUT ROWID",
        "CREATE INDEX node_messages_by_node ON node_messages (session, node)",
        "CREATE TABLE node_children (session TEXT NOT NULL, child INTEGER NOT NULL, parent INTEGER NOT NULL,"
        " CHECK (child < parent), PRIMARY KEY (session, child),"
        " FOREIGN KEY (session, child) REFERENCES nodes(session, number) ON DELETE CASCADE,"
        " FOREIGN KEY (session, parent) REFERENCES nodes(session, number) ON DELETE CASCADE) WITHOUT ROWID",
        "CREATE INDEX node_children_by_parent ON node_children (session, parent)",
    ),
)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to today's version, in one transaction. Raises `sqlite3.DatabaseError` for one from the future."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(VERSIONS):
            raise sqlite3.DatabaseError(f"written by a newer version (schema {version}, known {len(VERSIONS)})")
        for statements in VERSIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < len(VERSIONS):
            connection.execute(f"PRAGMA user_version = {len(VERSIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
