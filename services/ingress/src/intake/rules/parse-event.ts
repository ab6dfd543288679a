export type ParsedEvent =
  | { readonly kind: 'event'; readonly event: Readonly<Record<string, unknown>> }
  | { readonly kind: 'malformed'; readonly reason: 'not_utf8' | 'not_json' | 'not_an_object' }

/**
 * `fatal`, because the body is inserted into the message unchanged: if the decoder replaced invalid bytes here, every reader of the
 * message would have to replace them in the same way. `ignoreBOM` keeps a byte order mark in the text, so that JSON.parse refuses it.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses an authenticated body. Accepts only a JSON object. */
export function parseEvent(body: Uint8Array): ParsedEvent {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return { kind: 'malformed', reason: 'not_utf8' }
  }
  let event: unknown
  try {
    event = JSON.parse(text)
  } catch {
    return { kind: 'malformed', reason: 'not_json' }
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    return { kind: 'malformed', reason: 'not_an_object' }
  }
  return { kind: 'event', event: event as Record<string, unknown> }
}
