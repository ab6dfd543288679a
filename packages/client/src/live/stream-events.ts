/** One event of a stream of Server-Sent Events. */
export interface StreamEvent {
  /** Resumes the stream after this event. */
  readonly id: string
  /** Empty for a heartbeat. */
  readonly type: string
  readonly data: string
}

/** Creates a parser of Server-Sent Events. An event ends at an empty line; what the stream cuts off is dropped. */
export function createEventParser(): (chunk: Uint8Array) => StreamEvent[] {
  const decoder = new TextDecoder()
  let rest = ''
  let [id, type] = ['', '']
  let data: string[] = []
  return chunk => {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    return lines.flatMap(line => {
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line.replace(/\r$/, '')) ?? []
      if (field === 'id') id = value
      else if (field === 'event') type = value
      else if (field === 'data') data.push(value)
      if (line !== '' && line !== '\r') return []
      const event = { id, type, data: data.join('\n') }
      ;[type, data] = ['', []]
      return event.id === '' ? [] : [event]
    })
  }
}
