import { Link } from '@tanstack/react-router'
import { PageHead, Problem } from '../parts/page/index.ts'

export function PageMissing() {
  return (
    <PageHead title="There is no page at this address">
      <Link className="link" to="/">
        Open the overview
      </Link>
    </PageHead>
  )
}

/** The navigation stays beside it. A reload also loads code again that could not be loaded. */
export function PageFailed({ error }: { error: Error }) {
  return <Problem error={error} retry={() => window.location.reload()} what="This page failed" />
}
