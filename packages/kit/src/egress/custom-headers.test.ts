import { expect, test } from 'vitest'
import { refuseCustomHeaders } from './custom-headers.ts'

const enough = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'v']))
const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, 'v']))

test.each([
  { name: 'an ordinary header', headers: { 'X-Team': 'billing ops' }, refused: false },
  { name: 'an empty value', headers: { 'X-Team': '' }, refused: false },
  { name: 'authorization', headers: { Authorization: 'Bearer x' }, refused: false },
  { name: 'host', headers: { Host: 'internal' }, refused: true },
  { name: 'content-length', headers: { 'Content-Length': '0' }, refused: true },
  { name: 'transfer-encoding', headers: { 'transfer-encoding': 'chunked' }, refused: true },
  { name: 'connection', headers: { Connection: 'x-real' }, refused: true },
  { name: 'a proxy header', headers: { 'Proxy-Authorization': 'x' }, refused: true },
  { name: 'a forwarding header', headers: { 'X-Forwarded-Host': 'x' }, refused: true },
  { name: 'our own id', headers: { 'Webhook-Id': 'x' }, refused: true },
  { name: 'our own signature', headers: { 'x-service-signature': 'x' }, refused: true },
  { name: 'that of a rotation', headers: { 'X-Service-Signature-Previous': 'x' }, refused: true },
  { name: 'the content type', headers: { 'content-type': 'x' }, refused: true },
  { name: 'a line break in the value', headers: { 'X-Team': 'a\r\nHost: internal' }, refused: true },
  { name: 'a space in the name', headers: { 'X Team': 'a' }, refused: true },
  { name: 'an empty name', headers: { '': 'a' }, refused: true },
  { name: 'a value beyond ASCII', headers: { 'X-Team': 'ü' }, refused: true },
  { name: 'twenty', headers: enough, refused: false },
  { name: '4,096 bytes', headers: { 'X-Team': 'a'.repeat(4_090) }, refused: false },
  { name: 'a byte more', headers: { 'X-Team': 'a'.repeat(4_091) }, refused: true },
  { name: 'too many', headers: many, refused: true },
  { name: 'too large', headers: { 'X-Team': 'a'.repeat(5000) }, refused: true },
])('$name: refused $refused', ({ headers, refused }) => {
  expect(refuseCustomHeaders(headers as Record<string, string>) !== undefined).toBe(refused)
})
