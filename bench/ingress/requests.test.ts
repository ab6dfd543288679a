import { expect, test } from 'vitest'
import { signedRequests } from './requests.ts'

test('events differ and have 1.2 KB', () => {
  const order = { port: 0, sockets: 1, warmUpAnswers: 0, measureMs: 0, isAuthentic: true, secret: 'whsec_test' }
  const requests = signedRequests({ ...order, events: 10 }).map(String)
  expect(new Set(requests).size).toBe(10)
  const [head = '', body = ''] = requests[0]!.split('\r\n\r\n')
  expect(body).toHaveLength(1_200)
  expect(head).toContain('\r\ncontent-length: 1200')
})
