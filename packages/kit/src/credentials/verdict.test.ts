import { expect, test } from 'vitest'
import { judgeServers, type ServerOutcome, type Verdict } from './verdict.ts'

const accepted: Verdict = { kind: 'accepted' }
const rows: { name: string; outcomes: ServerOutcome[]; verdict: Verdict }[] = [
  { name: 'one server that accepts', outcomes: ['accepted'], verdict: accepted },
  {
    name: 'one expired certificate among servers that accept',
    outcomes: ['server_certificate_expired', 'accepted', 'accepted'],
    verdict: accepted,
  },
  { name: 'a refused login and a server that accepts', outcomes: ['login_refused', 'accepted'], verdict: accepted },
  {
    name: 'servers that all refuse',
    outcomes: ['server_not_trusted', 'server_name_differs'],
    verdict: { kind: 'refused', refusal: 'server_not_trusted' },
  },
  {
    name: 'one expired certificate while the other servers do not answer',
    outcomes: ['no_answer', 'server_certificate_expired'],
    verdict: { kind: 'unknown', suspected: 'server_certificate_expired' },
  },
  {
    name: 'a refused login while the other servers do not answer',
    outcomes: ['no_answer', 'server_certificate_expired', 'login_refused'],
    verdict: { kind: 'refused', refusal: 'login_refused' },
  },
  { name: 'no answer', outcomes: ['no_answer'], verdict: { kind: 'unknown', suspected: undefined } },
  { name: 'no server', outcomes: [], verdict: { kind: 'unknown', suspected: undefined } },
  {
    name: 'connections that are closed without a reason',
    outcomes: ['connection_closed', 'connection_closed'],
    verdict: { kind: 'unknown', suspected: 'connection_closed' },
  },
]
test.each(rows)('$name: $verdict.kind', ({ outcomes, verdict }) => {
  expect(judgeServers(outcomes)).toEqual(verdict)
})
