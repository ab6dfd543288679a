/** The signer, samples and refusals of the wallet, the fourth provider, for the suites of every provider. */
import { createHmac } from 'node:crypto'
import { WALLET_EVENTS, WALLET_OBJECTS } from './fourth-provider/samples/index.ts'
import type { Refusal } from './read-back/refusals.ts'
import type { ProviderSamples } from './samples/index.ts'
import type { TestSigner } from './sign.ts'

export const WALLET_SIGNER: TestSigner = {
  header: 'wallet-signature',
  covers: { body: true, time: true },
  sign(body, secrets, atMs) {
    const t = Math.floor(atMs / 1000)
    const one = (secret: string) => `s=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
    return [`t=${t}`, ...secrets.map(one)].join(',')
  },
}

export const WALLET_SAMPLES: ProviderSamples = {
  events: WALLET_EVENTS,
  objects: WALLET_OBJECTS,
  decisive: /^(return(\.(id|cents|currency|made))?|plan(\.(id|state|ends|changed))?)$/,
}

const refusal = (status: number, problem: string, failure: Refusal['failure']): Refusal => ({
  name: `${status} ${problem}`,
  status,
  body: { problem },
  failure,
})

export const WALLET_REFUSALS: readonly Refusal[] = [
  refusal(401, 'no_such_key', 'key_refused'),
  refusal(403, 'not_for_you', 'key_refused'),
  refusal(400, 'no_such_place', 'question_refused'),
  refusal(404, 'no_such_page', 'question_refused'),
  refusal(409, 'busy', 'provider_unavailable'),
  refusal(429, 'slow_down', 'rate_limited'),
  refusal(500, 'broken', 'provider_unavailable'),
]
