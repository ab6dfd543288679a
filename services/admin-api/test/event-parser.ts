/** One event of a stream, or a heartbeat (type `heartbeat`), which only has an id. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape, and a wrong look fails the test
  readonly data: any
}

/** Parses Server-Sent Events as browsers do, except that a heartbeat is reported too. */
export function createParser(onEvent: (event: ReceivedEvent) => void): (text: string) => void {
  let rest = ''
  return text => {
    rest += text
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const lines = rest.slice(0, end).split('\n')
      rest = rest.slice(end + 2)
      const field = (name: string) => lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const [id, data] = [field('id'), field('data')]
      if (id === undefined) continue
      onEvent({ id, type: field('event') ?? 'heartbeat', data: data === undefined ? undefined : JSON.parse(data) })
    }
  }
}
