/** Posts prepared bodies with undici and does nothing else: an upper limit for every sender on this machine. */

import { webhookBody } from '@backstop/channels'
import { Pool } from 'undici'
import { reportCpuTime } from '../frame/children.ts'
import { benchAlert } from './load.ts'

const { RECEIVER = '', CONCURRENCY = '', COUNT = '' } = process.env
const concurrency = Number(CONCURRENCY)
const pool = new Pool(RECEIVER, { connections: concurrency, pipelining: 1 })
const bodies = Array.from({ length: Number(COUNT) }, (_, index) => webhookBody(benchAlert(`post-${index}`, 'prj_0')))
const headers = { 'content-type': 'application/json', 'webhook-id': 'post-only' }

async function postRemaining(): Promise<void> {
  for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
    const answer = await pool.request({ path: '/post', method: 'POST', headers, body })
    await answer.body.dump()
  }
}

reportCpuTime()
await Promise.all(Array.from({ length: concurrency }, postRemaining))
