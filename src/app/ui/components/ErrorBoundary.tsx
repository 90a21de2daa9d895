import { Component, type ReactNode } from "react";

interface ErrorBoundaryProps {
  /** Renders the fallback if the children fail. `tryAgain` renders them again. */
  readonly renderFallback: (tryAgain: () => void) => ReactNode;
  /** When this changes, the children are rendered again. */
  readonly subject: unknown;
  readonly children: ReactNode;
}

interface ErrorBoundaryState {
  readonly subject: unknown;
  readonly isFailed: boolean;
}

/** Catches errors of its children: without it, React removes the whole page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override readonly state: ErrorBoundaryState = { subject: this.props.subject, isFailed: false };

  static getDerivedStateFromError(): Partial<ErrorBoundaryState> {
    return { isFailed: true };
  }

  static getDerivedStateFromProps({ subject }: ErrorBoundaryProps, state: ErrorBoundaryState) {
    return subject === state.subject ? null : { subject, isFailed: false };
  }

  override render(): ReactNode {
    return this.state.isFailed
      ? this.props.renderFallback(() => this.setState({ isFailed: false }))
      : this.props.children;
  }
}
