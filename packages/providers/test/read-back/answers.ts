/** Answers of test servers that no provider gives: HTML, broken, endless and slow bodies, and changed answers of a real API. */
import type { Answer } from '@backstop/kit/test'
import fc from 'fast-check'

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const html =
  (status: number): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end('<html><h1>Hello</h1></html>')

export const truncatedBody: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': '1000' }).write('{"id":')
  setImmediate(() => response.destroy())
}

export const endlessBody: Answer = (_request, response) => {
  response.writeHead(200)
  const pour = () => {
    while (!response.destroyed && response.write(Buffer.alloc(1_048_576, ' ')));
    if (!response.destroyed) response.once('drain', pour)
  }
  pour()
}

export const slowBody: Answer = (_request, response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(timer))
}

/** Forwards requests to the API at this address, with a changed path, and returns its answers with a changed body. */
export const forwardTo =
  (
    url: string,
    pathOf: (path: string) => string = path => path,
    bodyOf: (body: string) => string = body => body,
  ): Answer =>
  (request, response) => {
    const headers = { authorization: request.headers.authorization ?? '' }
    void fetch(`${url}${pathOf(request.path)}`, { headers }).then(async answer =>
      response.writeHead(answer.status).end(bodyOf(await answer.text())),
    )
  }

/** The body with the id of an object replaced. */
export function withOtherId(body: string, id: string, other: unknown): string {
  return JSON.stringify(JSON.parse(body, (name, value) => (name === 'id' && value === id ? other : value)))
}

/** Arbitrary answers with the field names of a provider's page and arbitrary values. */
export function oddLists(): fc.Arbitrary<unknown> {
  const odd = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean())
  const item = fc.record(
    { id: odd, event_id: odd, created: odd, created_at: odd, occurred_at: odd, type: odd, event_type: odd, data: odd },
    { requiredKeys: [] },
  )
  const items = fc.array(fc.oneof(item, odd, fc.record({ event: item, transaction: item })), { maxLength: 3 })
  return fc.record(
    {
      data: items,
      list: items,
      has_more: odd,
      next_offset: odd,
      meta: fc.record({ pagination: fc.record({ has_more: odd, next: odd }) }),
    },
    { requiredKeys: [] },
  )
}
