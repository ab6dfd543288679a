/** A stand-in for the management API that serves a few actions on loopback. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action } from '@backstop/contracts'

export const KEY = 'bsk_of_the_test'

export const action: Action = {
  action_id: 'act_known',
  project_id: 'prj_1',
  connection_id: 'con_1',
  connection_ids: ['con_1'],
  provider: 'processor',
  kind: 'refund',
  subject: 'pi_1',
  provider_ref: 're_1',
  amount: 2499,
  currency: 'eur',
  state: 'succeeded',
  provider_created_at: '2026-11-21T10:00:00.000Z',
  first_seen_at: '2026-11-21T10:00:03.412Z',
  second_look_at: '2026-11-21T10:01:03.412Z',
  verdict: 'unexplained',
  reason: 'nothing_explains_it',
  operation_id: null,
  why: { rule: 'Nothing explains it', candidates: [], read_back: null },
  incident_id: 'inc_1',
  event_ids: ['evt_1'],
  timeline: [],
  version: 2,
}

export interface ApiStandIn {
  readonly url: string
  stop(): Promise<void>
}

export async function startApiStandIn(): Promise<ApiStandIn> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const problem = (status: number, code: string, detail: string) =>
      answer(status, { type: `urn:backstop:error:${code}`, title: code, status, code, detail })
    if (request.headers.authorization !== `Bearer ${KEY}`) problem(401, 'unauthenticated', 'Unknown API key')
    else if (request.url === '/v1/projects?limit=1') answer(200, { data: [], next_cursor: null })
    else if (request.url === '/v1/actions/act_known') answer(200, action)
    else if (request.url === '/v1/actions/act_merged')
      answer(200, { ...action, action_id: 'act_merged', merged_into: 'act_known' })
    else if (request.url === '/v1/actions/act_broken') answer(500, { no: 'problem' })
    else problem(404, 'not_found', 'There is no such action')
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
