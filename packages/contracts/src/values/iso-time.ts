/** A time in the format of messages and the API: ISO 8601 in UTC. @param atMs milliseconds since the epoch */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString()
}
