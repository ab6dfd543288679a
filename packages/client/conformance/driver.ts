/** The driver of the Node reporter. Its environment has CONFORMANCE_URL. docs/reporting.md explains what a driver does. */
import { type Environment, Paddle } from '@paddle/paddle-node-sdk'
import Chargebee from 'chargebee'
import Stripe from 'stripe'
import { createFileSpool } from '../src/file-spool.ts'
import { type Reporter, watch } from '../src/reporter/watch.ts'
import type { Call, Library } from './case.ts'
import type { CallResult, DriverStep } from './driver-process.ts'

// Each library has its own types, and a case names a method by a text.
// biome-ignore lint/suspicious/noExplicitAny: a client of any of three libraries
type AnyClient = any

let client: AnyClient
let library: Library = 'stripe'
let reporter: Reporter | undefined

for (let result: unknown = null; ; ) {
  const answer = await fetch(`${process.env.CONFORMANCE_URL}/next`, { method: 'POST', body: JSON.stringify(result) })
  result = await carryOut((await answer.json()) as DriverStep).catch(error => ({ error: String(error.stack) }))
}

async function carryOut(step: DriverStep): Promise<unknown> {
  switch (step.step) {
    case 'watch': {
      library = step.library
      client = openClient(new URL(step.provider_url))
      const { backstop_url: baseUrl, key, connection_id: connectionId, spool_folder: folder } = step
      const spool = folder === null ? {} : { spool: createFileSpool({ folder }) }
      const options = { baseUrl, key, connectionId, maxQueued: step.max_queued, onProblem() {}, ...spool }
      reporter = step.watched ? watch(client, options) : undefined
      return { ok: true }
    }
    case 'call':
      return { calls: await Promise.all(step.calls.map(makeCall)) }
    case 'status':
      return reporter?.status()
    case 'flush':
      return { flushed: await reporter?.flush({ timeoutMs: step.timeout_ms }) }
    case 'close':
      return { flushed: (await reporter?.close({ timeoutMs: step.timeout_ms })) ?? true }
    default:
      return step satisfies never
  }
}

function openClient({ hostname, port, href }: URL): AnyClient {
  switch (library) {
    case 'stripe':
      return new Stripe('sk_test', { host: hostname, port: Number(port), protocol: 'http' })
    case 'paddle':
      return new Paddle('pdl_test', { environment: href.replace(/\/$/, '') as Environment })
    case 'chargebee':
      return new Chargebee({ apiKey: 'key', site: hostname, hostSuffix: '', protocol: 'http', port: Number(port) })
    default:
      return library satisfies never
  }
}

async function makeCall(call: Call): Promise<CallResult> {
  const beganAtMs = performance.now()
  const ms = () => performance.now() - beganAtMs
  try {
    const value = (await send(call)) as AnyClient
    const id = value?.id ?? value?.transaction?.id ?? value?.subscription?.id ?? null
    return { ok: true, ms: ms(), value: { id } }
  } catch (error) {
    return { error: String((error as Error).message), ms: ms() }
  }
}

function send({ method, id, params, idempotency_key, account, max_retries }: Call): Promise<unknown> {
  const target = id === null ? [] : [id]
  const names = method.split('.')
  if (library === 'stripe') {
    const options = {
      maxNetworkRetries: max_retries,
      ...(idempotency_key === null ? {} : { idempotencyKey: idempotency_key }),
      ...(account === null ? {} : { stripeAccount: account }),
    }
    const raw = { 'charges.refund': 'refund', 'charges.refunds.create': 'refunds' }[method]
    if (raw !== undefined) return client.rawRequest('POST', `/v1/charges/${id}/${raw}`, params, options)
    return methodOf(names)(...target, params, options)
  }
  if (library === 'paddle') return methodOf(names)(...target, ...(Object.keys(params).length === 0 ? [] : [params]))
  const headers = idempotency_key === null ? {} : { 'chargebee-idempotency-key': idempotency_key }
  return methodOf(names)(...target, params, headers)
}

function methodOf(names: readonly string[]): (...args: unknown[]) => Promise<unknown> {
  const owner = names.slice(0, -1).reduce((value, name) => value[name], client)
  return owner[names.at(-1) ?? ''].bind(owner)
}
