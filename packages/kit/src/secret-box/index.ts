export { judgeSecrets, type StoredSecret } from './judge-secrets.ts'
export * from './key-ring.ts'
export * from './secret-box.ts'
