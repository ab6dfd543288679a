/** The text of Server-Sent Events (WHATWG HTML, 9.2). */

/** An event that clients dispatch. Its id is the position to resume from. */
export interface EventText {
  readonly id: string
  readonly type: string
  /** JSON on one line. */
  readonly data: string
}

export function formatEvent({ id, type, data }: EventText): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`
}

/**
 * A heartbeat: a comment, and the position. Clients dispatch no event for it, but resume from this id, so a stream without events does
 * not fall behind.
 * @param id undefined while the client must not skip events
 */
export function formatHeartbeat(id: string | undefined): string {
  return id === undefined ? ': heartbeat\n\n' : `: heartbeat\nid: ${id}\n\n`
}

/** How soon a client connects again after the stream ended, in milliseconds. */
export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`
}
