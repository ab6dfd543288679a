import { expect, test } from 'vitest'
import { createCertificateAuthority } from '../../test/self-signed-certificate.ts'
import { Secret } from '../config/secret.ts'
import { createTlsMaterial } from './tls-material.ts'

const authority = createCertificateAuthority('authority')
const [old, next] = [authority.issue('old'), authority.issue('next')]

/** Material from files that the test changes. */
function material() {
  const files = { ca: authority.cert, cert: old.cert, key: old.key }
  const live = (name: keyof typeof files) => new Secret(files[name], () => files[name])
  return { files, tls: createTlsMaterial({ ca: live('ca'), cert: live('cert'), key: live('key') }) }
}

test('the context is the same while the files are the same', () => {
  const { tls } = material()
  expect(tls.context()).toBe(tls.context())
})

test('a new certificate with its key is used from then on, also by the live context', () => {
  const { files, tls } = material()
  const before = tls.context()
  const live = tls.liveContext
  Object.assign(files, { cert: next.cert, key: next.key })
  expect(tls.context()).not.toBe(before)
  expect(live.context).toBe(tls.context().context)
  expect(tls.describeCertificate()).toMatch(/^CN=next, valid until \d{4}-\d\d-\d\d$/)
})

test('a certificate without its key is not used until the key is there', () => {
  const { files, tls } = material()
  const before = tls.context()
  files.cert = next.cert
  expect(tls.context()).toBe(before)
  files.key = next.key
  expect(tls.context()).not.toBe(before)
})
