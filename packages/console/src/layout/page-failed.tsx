import { Link } from '@tanstack/react-router'
import { PageHead } from '../parts/page-head.tsx'
import { Problem } from '../parts/problem.tsx'

export function PageMissing() {
  return (
    <PageHead title="There is no page at this address">
      <Link className="link" to="/">
        Open the overview
      </Link>
    </PageHead>
  )
}

export function PageFailed({ error, reset }: { error: Error; reset: () => void }) {
  return <Problem error={error} retry={reset} what="This page failed" />
}
