export type { TlsMaterial } from './tls-material.ts'
