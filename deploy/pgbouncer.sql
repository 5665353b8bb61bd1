-- What a connection says itself without a pooler: how long a statement waits for a lock.
ALTER ROLE latchkey SET lock_timeout = '15s';
