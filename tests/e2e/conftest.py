from tests.support.redis import redis_process, redis_server

__all__ = ["redis_process", "redis_server"]
