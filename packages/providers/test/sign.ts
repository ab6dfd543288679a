/**
 * Signs notifications as each provider does. Written from the providers' documentation and not with the code under test, so that
 * an error in signing is not hidden by the same error in checking.
 */
import { createHmac } from 'node:crypto'
import type { ProviderKind } from '@backstop/contracts'

export interface TestSigner {
  /** The name of the header with the credential. */
  readonly header: string
  /** The parts of a notification that the signature covers. */
  readonly covers: { readonly body: boolean; readonly time: boolean }
  /** A header value that authenticates `body` at `atMs` with each of `secrets`. */
  sign(body: Buffer, secrets: readonly string[], atMs: number): string
}

const hex = (secret: string, timestamp: number, joint: string, body: Buffer) =>
  createHmac('sha256', secret).update(`${timestamp}${joint}`).update(body).digest('hex')

export const SIGNERS: Record<ProviderKind, TestSigner> = {
  processor: {
    header: 'processor-signature',
    covers: { body: true, time: true },
    sign(body, secrets, atMs) {
      const t = Math.floor(atMs / 1000)
      return [`t=${t}`, ...secrets.map(secret => `v1=${hex(secret, t, '.', body)}`)].join(',')
    },
  },
  reseller: {
    header: 'reseller-signature',
    covers: { body: true, time: true },
    sign(body, secrets, atMs) {
      const ts = Math.floor(atMs / 1000)
      return [`ts=${ts}`, ...secrets.map(secret => `h1=${hex(secret, ts, ':', body)}`)].join(';')
    },
  },
  subscription: {
    header: 'authorization',
    covers: { body: false, time: false },
    // Basic authentication has one password, so only the first secret is used.
    sign: (_body, secrets) => `Basic ${Buffer.from(`service:${secrets[0]}`).toString('base64')}`,
  },
}
