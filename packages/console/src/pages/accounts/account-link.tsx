import { ProjectLink } from '../../parts/page/index.ts'

/** A connected account by its id, which leads to its page. Null for the account of the connection itself. */
export function accountFact(account: string | null | undefined) {
  if (account == null) return null
  return (
    <ProjectLink page="accounts" id={account}>
      <bdi className="mono">{account}</bdi>
    </ProjectLink>
  )
}
